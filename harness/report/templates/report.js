"use strict";
const byId = (id) => document.getElementById(id);
const rows = [...byId("rows").rows];
const pages = new Map();
let cell = null; // the cell of the heat map that was clicked, if any

async function unpack(number) {
  if (!pages.has(number)) {
    const bytes = Uint8Array.from(atob(byId(`packed-${number}`).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    pages.set(number, await new Response(stream).text());
  }
  return pages.get(number);
}

async function search() {
  const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const state = byId("state").value;
  const deep = byId("deep").checked && words.length > 0;
  const texts = deep ? await Promise.all(rows.map((row) => unpack(row.dataset.number))) : [];
  let shown = 0;
  rows.forEach((row, index) => {
    const text = deep ? `${row.dataset.words} ${texts[index].toLowerCase()}` : row.dataset.words;
    const inCell = !cell || ["task", "arm", "config", "model"].every((key) => cell[key] === row.dataset[key]);
    row.hidden = !(inCell && (!state || state === row.dataset.state) && words.every((word) => text.includes(word)));
    shown += !row.hidden;
  });
  byId("count").textContent = `${shown} of ${rows.length} runs`;
}

async function route() {
  const number = /^#run-(\d+)$/.exec(location.hash)?.[1];
  const known = number !== undefined && byId(`packed-${number}`) !== null;
  if (known) {
    byId("run").innerHTML = await unpack(number);
    for (const link of byId("run").querySelectorAll("nav a[rel]")) {
      link.hidden = byId(`packed-${link.hash.slice(5)}`) === null;
    }
  }
  byId("run").hidden = !known;
  byId("overview").hidden = known;
  if (known) window.scrollTo(0, 0);
}

byId("filter").addEventListener("input", search);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("reset", () => { cell = null; setTimeout(search); });
byId("heatmap").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  cell = { ...button.dataset };
  search();
  byId("runs").scrollIntoView();
});
window.addEventListener("hashchange", route);
search();
route();
