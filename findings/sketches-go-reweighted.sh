#!/usr/bin/env bash
# sketches-go (DDSketch): what are the percentiles after all weights are scaled (`Reweight`), as for a decaying average?
#
# Expected: the same. "Reweight multiplies all values from the sketch by w, but keeps the same global distribution"
# (comment of the method). And if 100 is expected, "the computed quantile value is guaranteed to be between 99 and 101"
# (docstring of ddsketch for Python, the same algorithm).
# Found: of 1000 times of 1 to 1000 ms, scaled to a total weight of 2, the p99 falls from 983 to 498 ms, and even the
# 100th percentile is 498 ms. At a total of 1, all percentiles are 1 ms, the shortest time. The rank is calculated as
# q × (total − 1), as if each value had the weight 1. So weights that add up to 1 (`AddWithCount`) always give
# the minimum; ddsketch for Python does the same (`add(value, weight)`). The maximum of Go's sketch is right.
# Exits 1 if that has changed. Needs go, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.24

require github.com/DataDog/sketches-go v1.4.8
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/DataDog/sketches-go/ddsketch"
)

// must returns a value that has no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	sketch := must(ddsketch.NewDefaultDDSketch(0.01))
	for ms := 1; ms <= 1000; ms++ {
		if err := sketch.Add(float64(ms)); err != nil {
			panic(err)
		}
	}
	found := map[int][]float64{}
	fmt.Println("total weight    p50    p99   p100    max")
	for _, total := range []int{1000, 100, 2, 1} {
		if err := sketch.Reweight(float64(total) / sketch.GetCount()); err != nil {
			panic(err)
		}
		ms := must(sketch.GetValuesAtQuantiles([]float64{0.5, 0.99, 1}))
		found[total] = append(ms, must(sketch.GetMaxValue()))
		fmt.Printf("%12d %6.0f %6.0f %6.0f %6.0f\n", total, ms[0], ms[1], ms[2], found[total][3])
	}
	right := found[1000][0] > 490 && found[1000][1] > 970 && found[1][3] > 990
	wrong := found[2][1] < 510 && found[2][2] < 510 && found[1][0] < 2 && found[1][2] < 2
	if !right || !wrong {
		os.Exit(1)
	}
}
GO
GOFLAGS=-mod=mod go build -o probe . 2>log || { cat log && exit 1; }
grep 'sketches-go' go.mod
./probe
python3 -m venv v && v/bin/pip -qq install --no-compile ddsketch==3.0.1
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

from ddsketch import DDSketch

print("ddsketch", version("ddsketch"))
found = {}
for weight in (1, 0.001):
    sketch = DDSketch(0.01)
    for ms in range(1, 1001):
        sketch.add(ms, weight)
    found[weight] = [sketch.get_quantile_value(q) for q in (0.5, 0.99, 1)]
    print(f"1000 times of weight {weight}: p50 {found[weight][0]:.0f}, p99 {found[weight][1]:.0f} ms")
sys.exit(not (found[1][1] > 970 and max(found[0.001]) < 2))
PYTHON
