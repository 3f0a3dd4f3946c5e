#!/usr/bin/env bash
# Gonum: what is the median of 10, 20 and 30 ms, by `stat.Quantile` with linear interpolation (`LinInterp`)?
#
# Expected: 20 ms, as by its other kind (`Empirical`), and as another package for Go and NumPy interpolate. The
# manual says only "Returns the linearly interpolated value".
# Found: 15 ms. Gonum takes the i-th of n trials for the quantile i / n, which makes few trials look faster than they
# are: the median of two trials is the shorter one. Of six trials, one of them 500 ms, p95 is 354 ms (NumPy:
# 379 ms). NumPy has this as `interpolated_inverted_cdf`, number 4 of nine methods.
# Exits 1 if that has changed. Needs go, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.24

require (
	github.com/montanaflynn/stats v0.14.0
	gonum.org/v1/gonum v0.17.0
)
MOD
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/stat"
)

func main() {
	var trials []float64
	if err := json.Unmarshal([]byte(os.Args[1]), &trials); err != nil {
		panic(err)
	}
	for _, p := range []float64{0.5, 0.95} {
		other, err := stats.Percentile(trials, 100*p)
		if err != nil {
			panic(err)
		}
		interpolated := stat.Quantile(p, stat.LinInterp, trials, nil)
		fmt.Println(interpolated, stat.Quantile(p, stat.Empirical, trials, nil), other)
	}
}
GO
GOFLAGS=-mod=mod go build -o probe . 2>log || { cat log && exit 1; }
python3 -m venv v && v/bin/pip -qq install --no-compile numpy==2.4.6
v/bin/python - <<'PYTHON'
import json
import subprocess
import sys

import numpy as np

print("Gonum 0.17.0, montanaflynn/stats 0.14.0, NumPy", np.__version__)
print(f"{'trials, ms':<26} {'':>4} {'LinInterp':>9} {'Empirical':>9} {'montanaflynn':>12} {'NumPy':>8}", end="")
print("  NumPy, method 4")
found = {}
for trials in ([10, 20], [10, 20, 30], [10, 20, 30, 40], [10, 11, 12, 13, 14, 500]):
    printed = subprocess.run(["./probe", json.dumps(trials)], check=True, capture_output=True, text=True).stdout
    for percent, line in zip((50, 95), printed.splitlines()):
        linear, empirical, other = map(float, line.split())
        default = float(np.percentile(trials, percent))
        fourth = float(np.percentile(trials, percent, method="interpolated_inverted_cdf"))
        found[len(trials), percent] = linear, empirical, round(other, 6), round(default, 6)
        print(f"{trials!s:<26} {f'p{percent}':>4} {linear:>9.1f} {empirical:>9.1f} {other:>12.1f}", end="")
        print(f" {default:>8.1f} {fourth:>10.1f}")
        if abs(linear - fourth) > 1e-6 or abs(other - default) > 1e-6:
            sys.exit("the packages differ in another way")
sys.exit(not (found[2, 50] == (10, 10, 15, 15) and found[3, 50] == (15, 20, 20, 20) and found[4, 50][0] == 20))
PYTHON
