#!/usr/bin/env bash
# rcrowley/go-metrics: what is the mean rate (`RateMean`) of a meter that counted 100 requests at once, 4 s later?
#
# Expected: 25 requests per second. "RateMean returns the meter's mean rate of events per second" (godoc of
# `StandardMeter`).
# Found: millions per second. The mean is calculated whenever something is counted and every 5 s, and is returned as it
# was then. At the last of the 100 requests the meter was some microseconds old. So in a run of less than 5 s, a server
# that answers quickly and then stalls seems a hundred thousand times too fast, while the one-minute rate is 0. If one
# more request is counted just before the meter is read, the mean is right.
# Exits 1 if that has changed. Needs go.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
cat >go.mod <<'MOD'
module probe

go 1.24

require github.com/rcrowley/go-metrics v0.0.0-20250401214520-65e299d6c5c9
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rcrowley/go-metrics"
)

func main() {
	meter := metrics.NewMeter()
	started := time.Now()
	meter.Mark(100)
	var rates, means []float64
	read := func(title string) {
		mean := float64(meter.Count()) / time.Since(started).Seconds()
		fmt.Printf("%-30s %3d requests, mean rate %.1f, RateMean %.1f, Rate1 %.1f requests/s\n",
			title, meter.Count(), mean, meter.RateMean(), meter.Rate1())
		rates, means = append(rates, meter.RateMean()), append(means, mean)
	}
	time.Sleep(2 * time.Second)
	read("after 2 s")
	time.Sleep(2 * time.Second)
	read("after 4 s")
	meter.Mark(1)
	read("after 4 s and one more request")
	if rates[0] < 100*means[0] || rates[1] < 100*means[1] || rates[2] > 1.1*means[2] {
		os.Exit(1)
	}
}
GO
GOFLAGS=-mod=mod go build -o probe . 2>log || { cat log && exit 1; }
grep 'go-metrics' go.mod
./probe
