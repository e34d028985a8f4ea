"use strict";
const MOST = 500; // rows of a table that are shown; a filter leads to the others
let chosen = []; // arm, task, config and model of the reward that was clicked; an empty one stands for any

function filter(section) {
  const { words, state, group } = Object.fromEntries(new FormData(section.querySelector("form")));
  const wanted = words.toLowerCase().split(/\s+/);
  const among = (values, value) => !value || values.split(" ").includes(value);
  const rows = [...section.querySelector("tbody").rows];
  let found = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const isChosen = (name, at) => !name || row.cells[at + 1].textContent === name;
    const fits =
      among(row.dataset.s, state) && among(row.dataset.g, group) && wanted.every((word) => text.includes(word)) &&
      (section.id !== "runs" || chosen.every(isChosen));
    found += fits;
    row.hidden = !fits || found > MOST;
  }
  const things = section.querySelector("h2").textContent.toLowerCase();
  section.querySelector("output").textContent =
    `${found > MOST ? `the first ${MOST} of ` : ""}${found} of ${rows.length} ${things}`;
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
  const body = heading.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => [value(row), row]);
  rows.sort(([a], [b]) => missing(a) - missing(b) || (a < b ? 1 : a > b ? -1 : 0) * (down ? 1 : -1));
  body.replaceChildren(...rows.map(([, row]) => row));
  filter(heading.closest("section"));
}

for (const form of document.forms) {
  const section = form.closest("section");
  form.addEventListener("input", () => filter(section));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    if (section.id === "runs") chosen = [];
    setTimeout(() => filter(section)); // once the fields are empty
  });
  filter(section);
}
for (const table of document.querySelectorAll("table.tasks")) {
  table.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    if (button.parentNode.tagName === "TH") return sort(button.parentNode);
    const runs = document.getElementById("runs");
    chosen = [button.dataset.arm, ...button.closest("tr").dataset.k.split("\n")];
    filter(runs);
    runs.scrollIntoView();
  });
}
