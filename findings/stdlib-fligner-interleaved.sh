#!/usr/bin/env bash
# @stdlib/stats-fligner-test: do two builds spread alike if their trials were run in turns (option `groups`)?
#
# Expected: the same answer in whatever order the trials are listed: p = 0.002, as from two arrays, from a list with
# one build after the other, and from SciPy. The package's Bartlett and Kruskal-Wallis tests with `groups` do so.
# Found: p = 0.43. The test gathers the trials of each build, then reads the labels in the order of the list, so
# trials count for the wrong build. The manual's example lists one group after the other, where both orders agree.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @stdlib/stats-fligner-test@0.2.3 \
    @stdlib/stats-bartlett-test@0.2.3 @stdlib/stats-kruskal-test@0.2.3 >/dev/null 2>&1
cat >turns.js <<'JS'
const tests = {
  "Bartlett": require("@stdlib/stats-bartlett-test"),
  "Kruskal-Wallis": require("@stdlib/stats-kruskal-test"),
  "Fligner": require("@stdlib/stats-fligner-test"),
};
console.log("@stdlib/stats-fligner-test", require("@stdlib/stats-fligner-test/package.json").version);
const OLD = [40, 41, 39, 40, 42, 41, 39, 40, 38, 41]; // milliseconds
const NEW = [43, 31, 52, 38, 47, 36, 60, 41, 33, 49];
const turns = OLD.flatMap((time, index) => [time, NEW[index]]);
const turnLabels = OLD.flatMap(() => ["old", "new"]);
const blocks = [...OLD, ...NEW];
const blockLabels = [...OLD.map(() => "old"), ...NEW.map(() => "new")];
const found = {};
for (const [title, test] of Object.entries(tests)) {
  // Copies, for the Fligner test overwrites what it is given.
  found[title] = [
    test([...OLD], [...NEW]).pValue,
    test([...blocks], { groups: blockLabels }).pValue,
    test([...turns], { groups: turnLabels }).pValue,
  ];
  const [arrays, block, turn] = found[title].map((p) => p.toPrecision(3));
  console.log(`${title.padEnd(14)} p: two arrays ${arrays}, one build after the other ${block}, in turns ${turn}`);
}
const same = (...values) => values.every((value) => Math.abs(value - values[0]) < 1e-9);
const right = same(...found.Bartlett) && same(...found["Kruskal-Wallis"]);
const [arrays, block, turn] = found.Fligner;
process.exit(right && same(arrays, block) && arrays < 0.01 && turn > 0.4 ? 0 : 1);
JS
node turns.js
