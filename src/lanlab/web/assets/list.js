// The list of runs, and which of them are selected for comparison.
import { follow, place } from "./live.js";

const form = document.getElementById("runs");
const list = document.getElementById("list");
const button = document.getElementById("compare");
const MOST = 6;

const ticked = () => [...list.querySelectorAll("input:checked")].map((one) => one.value);
const count = () => { const { length } = ticked(); button.disabled = length < 2 || length > MOST; };

follow(form.dataset.events, {
  runs: ({ html }) => {
    const kept = new Set(ticked());
    place(list, html);
    for (const one of list.querySelectorAll("input")) one.checked = kept.has(one.value);
    document.getElementById("waiting").hidden = true;
    document.getElementById("compare-line").hidden = list.querySelectorAll("input").length < 2;
    count();
  },
});
form.addEventListener("change", count);
