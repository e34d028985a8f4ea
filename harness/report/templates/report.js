"use strict";
const byId = (id) => document.getElementById(id);
const SHOWN = 300; // rows of the table of runs; a filter leads to the others
const packs = new Map();
let runs = []; // [pack, place, words, verdict, arm, task, config, model, run, score, cost, time, tools, why]
let cell = null; // what was clicked in the table of tasks or in the heat map: names to values, if any
let origin = null; // the link that led to a run, for the way back

async function unpack(id) {
  if (!packs.has(id)) {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    packs.set(id, JSON.parse(await new Response(stream).text()));
  }
  return packs.get(id);
}

const page = async (number) => (await unpack(`packed-${runs[number][0]}`))[runs[number][1]];

function line(number) {
  const [, , , verdict, arm, task, config, model, index, score, cost, time, tools, why] = runs[number];
  const row = document.createElement("tr");
  row.dataset.state = verdict;
  const link = (text, kind) => {
    const made = document.createElement("a");
    [made.href, made.textContent, made.className] = [`#run-${number}`, text, kind];
    return made;
  };
  const columns = [[link(verdict, `state ${verdict}`)], [arm], [link(task, "name")], [config], [model]];
  columns.push(...[index, score, cost, time, tools].map((value) => [value, "n"]), [why, "why"]);
  if (!arm) columns.splice(1, 1);
  for (const [content, kind] of columns) {
    const made = row.insertCell();
    made.append(content);
    if (kind) made.className = kind;
  }
  return row;
}

async function search() {
  const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const state = byId("state").value;
  const deep = byId("deep").checked && words.length > 0;
  const found = [];
  for (let number = 0; number < runs.length; number += 1) {
    const [, , more, verdict, arm, task, config, model, , , , , , why] = runs[number];
    const own = { arm, task, config, model };
    if (cell && Object.entries(cell).some(([name, value]) => own[name] !== value)) continue;
    if (state && state !== verdict) continue;
    let text = [more, verdict, arm, task, config, model, why].join(" ");
    if (deep) text += ` ${await page(number)}`;
    text = text.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(number);
  }
  byId("rows").replaceChildren(...found.slice(0, SHOWN).map(line));
  const first = found.length > SHOWN ? `the first ${SHOWN} of ` : "";
  byId("count").textContent = `${first}${found.length} of ${runs.length} runs`;
}

function choose() {
  const words = byId("task-words").value.toLowerCase();
  const state = byId("task-state").value;
  const group = byId("task-group")?.value ?? "";
  const rows = [...byId("task-rows").rows];
  let shown = 0;
  for (const row of rows) {
    const fits = !state || (state === "gone" ? row.querySelector(".gone").textContent : row.dataset.s === state);
    const inGroup = !group || row.dataset.g.split(" ").includes(group);
    row.hidden = !(fits && inGroup && row.cells[0].textContent.toLowerCase().includes(words));
    shown += !row.hidden;
  }
  byId("task-count").textContent = `${shown} of ${rows.length} tasks`;
}

function sort(heading) {
  const column = heading.cellIndex;
  const down = heading.getAttribute("aria-sort") !== "descending";
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => {
    const text = row.cells[column].textContent;
    const share = /^(\d+)\/(\d+)$/.exec(text.trim());
    if (share) return share[1] / share[2];
    return heading.classList.contains("n") ? parseFloat(text.replace(/[^0-9.+-]/g, "")) : text;
  };
  const missing = (x) => x === "" || Number.isNaN(x);
  const rows = [...byId("task-rows").rows].map((row) => [value(row), row]);
  rows.sort(([a], [b]) => missing(a) - missing(b) || (a < b ? 1 : a > b ? -1 : 0) * (down ? 1 : -1));
  byId("task-rows").replaceChildren(...rows.map(([, row]) => row));
}

function list(chosen) {
  cell = chosen;
  search();
  byId("runs").scrollIntoView();
  byId("words").focus({ preventScroll: true });
}

async function route() {
  const number = Number(/^#run-(\d+)$/.exec(location.hash)?.[1] ?? NaN);
  const known = number < runs.length;
  if (known) {
    byId("run").innerHTML = await page(number);
    for (const link of byId("run").querySelectorAll("nav a[rel]")) {
      link.hidden = !(Number(link.hash.slice(5)) in runs);
    }
  }
  byId("run").hidden = !known;
  byId("overview").hidden = known;
  if (known) {
    window.scrollTo(0, 0);
    byId("run").querySelector("a").focus({ preventScroll: true });
  } else if (origin) {
    (origin.isConnected ? origin : [...document.links].find((link) => link.hash === origin.hash))?.focus();
    origin = null;
  }
}

byId("filter").addEventListener("input", search);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("reset", () => { cell = null; setTimeout(search); });
byId("overview").addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#run-']");
  if (link) origin = link;
});
byId("heatmap")?.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) list({ ...button.dataset });
});
if (byId("tasks")) {
  const arms = [...byId("tasks").querySelectorAll("thead th")].slice(1, 3).map((heading) => heading.textContent);
  byId("choose").addEventListener("input", choose);
  byId("choose").addEventListener("submit", (event) => event.preventDefault());
  byId("choose").addEventListener("reset", () => setTimeout(choose));
  byId("tasks").addEventListener("click", (event) => {
    const button = event.target.closest("table button");
    if (!button) return;
    if (button.parentNode.tagName === "TH") return sort(button.parentNode);
    const [task, config, model] = button.closest("tr").dataset.k.split("\n");
    const chosen = { task, arm: arms[button.dataset.a], ...(config && { config }), ...(model && { model }) };
    list(chosen);
  });
  choose();
}
window.addEventListener("hashchange", route);
unpack("listed").then((listed) => { runs = listed; return search(); }).then(route);
