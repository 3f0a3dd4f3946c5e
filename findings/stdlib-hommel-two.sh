#!/usr/bin/env bash
# @stdlib/stats-padjust: what are the p-values 0.04 and 0.03 of two comparisons after Hommel's correction?
#
# Expected: 0.04 both. The README: Hommel's method, a method that controls the family-wise error rate. It is the closed
# test of Simes' p-values (Hommel 1988), and R's p.adjust computes the same.
# Found: two p-values are returned as they are, so 0.01 and 0.04 remain instead of 0.02 and 0.04, and one of two equal
# pairs differs at 0.05 in 9.75 % of studies. Of three or four, the test of all together is left out: 0.039 instead of
# 0.052. The package's Holm and Bonferroni are right.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @stdlib/stats-padjust@0.2.1 >/dev/null 2>&1
cat >adjust.js <<'JS'
const padjust = require("@stdlib/stats-padjust");
console.log("@stdlib/stats-padjust", require("@stdlib/stats-padjust/package.json").version);

/** Simes' p-value of some comparisons together. */
function simes(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.min(...sorted.map((value, index) => (values.length * value) / (index + 1)));
}

/** The largest of Simes' p-values of all groups of comparisons that contain one. */
function byHand(values) {
  const adjusted = values.map(() => 0);
  for (let group = 1; group < 2 ** values.length; group++) {
    const inside = (index) => (group >> index) & 1;
    const together = simes(values.filter((_, index) => inside(index)));
    for (const index of values.keys()) if (inside(index)) adjusted[index] = Math.max(adjusted[index], together);
  }
  return adjusted;
}

const show = (values) => values.map((value) => value.toFixed(3)).join(" ");
const found = [[0.03, 0.04], [0.01, 0.04], [0.01, 0.02, 0.03], [0.013, 0.026, 0.039, 0.5]].map((values) => {
  const [hand, hommel, holm] = [byHand(values), padjust(values, "hommel"), padjust(values, "holm")].map(show);
  console.log(`${show(values).padEnd(24)} by hand ${hand.padEnd(24)} hommel ${hommel.padEnd(24)} holm ${holm}`);
  return `${hand} | ${hommel}`;
});
let [alarms, handAlarms, studies] = [0, 0, 0];
for (let first = 0.0025; first < 1; first += 0.005)
  for (let second = 0.0025; second < 1; second += 0.005) {
    studies++;
    alarms += padjust([first, second], "hommel").some((value) => value <= 0.05);
    handAlarms += byHand([first, second]).some((value) => value <= 0.05);
  }
const [share, handShare] = [alarms / studies, handAlarms / studies];
console.log(`two equal pairs: ${(100 * share).toFixed(2)} % differ, ${(100 * handShare).toFixed(2)} % by hand`);
const wrong =
  found[0] === "0.040 0.040 | 0.030 0.040" &&
  found[1] === "0.020 0.040 | 0.010 0.040" &&
  found[2] === "0.030 0.030 0.030 | 0.020 0.030 0.030" &&
  found[3] === "0.052 0.058 0.078 0.500 | 0.039 0.058 0.078 0.500" &&
  Math.abs(share - 0.0975) < 0.001 &&
  handShare < 0.052;
process.exit(wrong ? 0 : 1);
JS
node adjust.js
