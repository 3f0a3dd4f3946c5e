#!/usr/bin/env bash
# jStat: what is p95 of 10, 20, 30 and 500 ms, by `jStat.percentile`?
#
# Expected: 429.5 ms, interpolated between the two longest. jStat interpolates linearly at lower percentiles (its p30 of
# 1, 2, 3, 4 is 1.9), just as NumPy and simple-statistics do, and the manual names no limit.
# Found: 30 ms, and so is p99. Between the two longest trials jStat does not interpolate, but returns the shorter one.
# So up to 20 trials, p95 does not depend on the longest, and up to 100 trials, p99 does not: a pause that hits one
# request of ten does not show.
# Exits 1 if that has changed. Needs npm, node, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . jstat@1.9.6 simple-statistics@7.12.1 >/dev/null 2>&1
python3 -m venv v && v/bin/pip -qq install --no-compile numpy==2.4.6
cat >probe.js <<'JS'
const { jStat } = require("jstat");
const simple = require("simple-statistics");
const { trials, percents } = JSON.parse(process.argv[2]);
const rows = percents.map((percent) => [
  jStat.percentile(trials, percent / 100),
  simple.quantile(trials, percent / 100),
]);
const versions = ["jstat", "simple-statistics"].map((name) => `${name} ${require(`${name}/package.json`).version}`);
console.log(JSON.stringify({ versions, rows }));
JS
v/bin/python - <<'PYTHON'
import json
import subprocess
import sys

import numpy as np

PERCENTS = [30, 50, 90, 95, 99, 100]
found = {}
for trials in ([1, 2, 3, 4], [10, 20, 30, 500], [*range(10, 19), 500], [*range(10, 29), 500], [*range(10, 109), 500]):
    asked = json.dumps({"trials": trials, "percents": PERCENTS})
    printed = json.loads(subprocess.run(["node", "probe.js", asked], check=True, capture_output=True, text=True).stdout)
    if not found:
        print(*printed["versions"], "NumPy", np.__version__)
        print("trials                  percentile    jStat  simple-statistics    NumPy")
    title = f"{len(trials):>3}: {', '.join(map(str, trials[:2]))}, ..., {trials[-1]}"
    for percent, (jstat, simple) in zip(PERCENTS, printed["rows"], strict=True):
        numpy = float(np.percentile(trials, percent))
        found[title, percent] = jstat, numpy
        print(f"{title:<23} {f'p{percent}':>10} {jstat:>8.2f} {simple:>18.2f} {numpy:>8.2f}", flush=True)
        if abs(simple - numpy) > 1e-9:
            sys.exit("the packages differ in another way")
right = all(abs(jstat - numpy) < 1e-9 for (_, percent), (jstat, numpy) in found.items() if percent in (30, 50, 100))
tops = {key: [found[key, percent][0] for percent in (95, 99)] for key, _ in found}
wrong = [*tops.values()] == [[3, 3], [30, 30], [18, 18], [28, 28], [104.05, 108]]
sys.exit(not (right and wrong))
PYTHON
