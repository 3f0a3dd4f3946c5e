#!/usr/bin/env bash
# @stdlib/stats-fligner-test: what is left of the trials after a test whether they spread alike?
#
# Expected: all of them. A test reads its samples, as the package's Bartlett and Kruskal-Wallis tests do.
# Found: differences from the median of each sample, for the test writes them into the caller's arrays. A t-test
# that is run next finds no difference (p = 1) between times of 20 ms and of 40 ms; before, p is 3 × 10⁻¹⁴.
# The manual does not say so.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @stdlib/stats-fligner-test@0.2.3 \
    @stdlib/stats-bartlett-test@0.2.3 @stdlib/stats-kruskal-test@0.2.3 @stdlib/stats-ttest2@0.2.3 >/dev/null 2>&1
cat >spread.js <<'JS'
const bartlett = require("@stdlib/stats-bartlett-test");
const fligner = require("@stdlib/stats-fligner-test");
const kruskal = require("@stdlib/stats-kruskal-test");
const ttest2 = require("@stdlib/stats-ttest2");
console.log("@stdlib/stats-fligner-test", require("@stdlib/stats-fligner-test/package.json").version);
const OLD = [39, 41, 40, 42, 38, 40, 41, 39]; // milliseconds
const NEW = [19, 21, 20, 22, 18, 20, 21, 19];
const found = {};
const tests = { none: () => {}, Bartlett: bartlett, "Kruskal-Wallis": kruskal, Fligner: fligner };
for (const [title, test] of Object.entries(tests)) {
  const before = [...OLD];
  const after = [...NEW];
  test(before, after);
  const p = ttest2(before, after).pValue;
  const same = before.join() === OLD.join() && after.join() === NEW.join();
  found[title] = { same, p, after };
  console.log(`${title.padEnd(15)} then ${before.join(" ")} against ${after.join(" ")}: p = ${p.toPrecision(2)}`);
}
const kept = ["none", "Bartlett", "Kruskal-Wallis"].every((title) => found[title].same && found[title].p < 1e-12);
const lost = found.Fligner.after.join() === NEW.map((time) => time - 20).join() && found.Fligner.p === 1;
process.exit(kept && lost ? 0 : 1);
JS
node spread.js
