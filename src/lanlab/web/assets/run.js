// One run: progress, trials as a figure and a table, results. All numbers come from the server.
import { follow, place } from "./live.js";
import { Chart } from "./chart.js";
import { Trials } from "./trials.js";

const page = document.getElementById("run");
const charts = JSON.parse(page.dataset.charts);
const select = document.getElementById("experiment");
const bar = document.getElementById("bar");
const said = document.getElementById("said");
// Interval at which screen readers announce progress, rather than at each trial.
const SAY_MS = 15000;

let rows = [];
let pending = false;
let saidAt = -Infinity;

const open = (number) => { location.href = `${page.dataset.trial}${number}`; };
const chart = new Chart(document.getElementById("chart"), open);
const trials = new Trials(document.getElementById("trials"), page.dataset.trial);

const draw = () => {
  pending = false;
  const shown = Number(select.value);
  const { title, name, unit } = charts[shown];
  document.getElementById("chart-title").textContent = `${title}: ${name}${unit ? ` (${unit})` : ""} of each trial, in order`;
  chart.show(rows.filter((row) => row.experiment === shown));
  const only = document.getElementById("only").checked;
  const kept = only ? rows.filter((row) => row.mark !== 0) : rows;
  trials.show(kept);
  document.getElementById("count").textContent = `${kept.length} of ${rows.length} trials`;
};
// Draw once per frame, however many rows arrive.
const soon = () => { if (!pending) { pending = true; requestAnimationFrame(draw); } };

follow(page.dataset.events, {
  restarted: () => { rows = []; },
  rows: ({ rows: sent }) => {
    for (const [experiment, value, mark, ...cells] of sent) {
      const number = Number(cells[0]);
      const row = { number, experiment, value, mark, cells };
      // Numbers ascend; a number that was sent before belongs to a row that has changed.
      const at = rows.length && number <= rows.at(-1).number ? find(number) : rows.length;
      rows[at] = row;
    }
    soon();
  },
  head: ({ html, status, done, total }) => {
    place(document.getElementById("progress"), html);
    bar.hidden = total === null;
    if (total !== null) { bar.max = total || 1; bar.value = total ? done : 1; }
    document.body.dataset.done = done;
    if (performance.now() - saidAt > SAY_MS || status !== "running") {
      saidAt = performance.now();
      said.textContent = `${status}, ${done} trials done`;
    }
  },
  tables: ({ html, trials: count }) => {
    place(document.getElementById("results"), html);
    document.body.dataset.results = count;
  },
});

function find(number) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].number < number) low = middle + 1; else high = middle;
  }
  return low;
}

select.addEventListener("change", soon);
document.getElementById("only").addEventListener("change", soon);
draw();
