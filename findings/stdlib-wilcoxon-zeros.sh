#!/usr/bin/env bash
# @stdlib/stats-wilcoxon: which runs does a signed-rank test against a median of 2 lost packets leave out?
#
# Expected: those that lose 2. The manual: "By default, all zero-differences are discarded".
# Found: those that lose none, whatever the median. Of 14 runs ten lose no packet, two 1, one 3 and one 5: fewer
# than 2 with p = 0.02. The test sees the last four and finds p = 0.85. Runs that lose 2 stay in.
# The same runs against a second sample of twos are right, as is "pratt".
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @stdlib/stats-wilcoxon@0.2.3 >/dev/null 2>&1
cat >losses.js <<'JS'
const wilcoxon = require("@stdlib/stats-wilcoxon");
console.log("@stdlib/stats-wilcoxon", require("@stdlib/stats-wilcoxon/package.json").version);

/** The sum of positive ranks and its exact p-value, of all ways to choose the signs. */
function byHand(values, median) {
  const differences = values.map((value) => value - median).filter((difference) => difference !== 0);
  const sizes = differences.map(Math.abs);
  const below = (size) => sizes.filter((other) => other < size).length;
  const ranks = sizes.map((size) => below(size) + (sizes.filter((other) => other === size).length + 1) / 2);
  const sum = (positive) => ranks.reduce((total, rank, index) => total + (positive(index) ? rank : 0), 0);
  const statistic = sum((index) => differences[index] > 0);
  const middle = (ranks.length * (ranks.length + 1)) / 4;
  let extreme = 0;
  for (let signs = 0; signs < 2 ** ranks.length; signs++) {
    const other = sum((index) => (signs >> index) & 1);
    if (Math.abs(other - middle) >= Math.abs(statistic - middle)) extreme++;
  }
  return { statistic, pValue: extreme / 2 ** ranks.length };
}

const found = {};
for (const [title, losses] of [
  ["many lose 0", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 3, 5]],
  ["some lose 2", [1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8]],
]) {
  console.log(`${title}: ${losses.join(" ")}`);
  found[title] = [
    ["by hand", byHand(losses, 2)],
    ["second sample", wilcoxon(losses, losses.map(() => 2))],
    ["mu", wilcoxon(losses, { mu: 2 })],
    ["mu, pratt", wilcoxon(losses, { mu: 2, zeroMethod: "pratt" })],
  ];
  for (const [way, { statistic, pValue }] of found[title])
    console.log(`  ${way.padEnd(14)} W ${statistic}, p ${pValue.toFixed(3)}`);
}
const [hand, second, mu, pratt] = found["many lose 0"].map(([, result]) => result);
const right = [hand, second, pratt].every(({ statistic, pValue }) => statistic === 16 && pValue < 0.05);
const [some, someSecond, someMu] = found["some lose 2"].map(([, result]) => result.statistic);
const wrong = mu.statistic === 6 && mu.pValue > 0.8 && some === someSecond && some !== someMu;
process.exit(right && wrong ? 0 : 1);
JS
node losses.js
