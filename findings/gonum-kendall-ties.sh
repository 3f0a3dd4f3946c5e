#!/usr/bin/env bash
# Gonum (Go): how strongly are the losses of two paths related if most runs lose nothing?
#
# Expected: not at all, near 0. `stat.Kendall` returns "Tau-a": the concordant pairs of runs minus the discordant ones, of
# all pairs. Two runs that lose the same on a path are neither.
# Found: a pair of runs that is equal on both paths counts as concordant, and one that is equal on one path as rising in
# the order of the list. So ten runs, of which eight lose nothing, have 0.96, or 0.24 if they are listed in reverse; no
# pair of them is concordant.
# Without equal values the result is right.
# Exits 1 if that has changed. Needs go.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.25.0

require gonum.org/v1/gonum v0.17.0
MOD
cat >main.go <<'GO'
package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// byHand is Tau-a as its definition says.
func byHand(x, y []float64) float64 {
	sum := 0
	for i := range x {
		for j := range i {
			sum += cmp.Compare(x[i], x[j]) * cmp.Compare(y[i], y[j])
		}
	}
	return float64(sum) / float64(len(x)*(len(x)-1)/2)
}

func reversed(values []float64) []float64 {
	values = slices.Clone(values)
	slices.Reverse(values)
	return values
}

func main() {
	wrong := true
	for _, series := range []struct {
		title            string
		x, y             []float64
		hand, fore, back float64
	}{
		{"ten runs, two lose", []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 2, 0}, -1. / 45, 43. / 45, 11. / 45},
		{"many equal", []float64{1, 2, 2, 3, 3, 3, 4, 5}, []float64{2, 3, 3, 4, 4, 5, 5, 6}, 23. / 28, 1, 22. / 28},
		{"none equal", []float64{1, 2, 3, 4, 5, 6}, []float64{2, 1, 4, 3, 6, 5}, 0.6, 0.6, 0.6},
	} {
		hand := byHand(series.x, series.y)
		fore := stat.Kendall(series.x, series.y, nil)
		back := stat.Kendall(reversed(series.x), reversed(series.y), nil)
		fmt.Printf("%s\n  %v\n  %v\n", series.title, series.x, series.y)
		fmt.Printf("  by hand %.3f, Kendall %.3f, in the reverse order %.3f\n", hand, fore, back)
		near := func(found, expected float64) bool { return math.Abs(found-expected) < 1e-9 }
		wrong = wrong && near(hand, series.hand) && near(fore, series.fore) && near(back, series.back)
	}
	if !wrong {
		os.Exit(1)
	}
}
GO
GOFLAGS=-mod=mod go build -o probe . 2>log || { cat log && exit 1; }
go version -m probe | awk '/gonum.org/ {print "Gonum", $3}'
./probe
