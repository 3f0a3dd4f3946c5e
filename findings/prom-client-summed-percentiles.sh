#!/usr/bin/env bash
# prom-client (npm): what are the percentiles of a summary over the four workers of a Node.js cluster?
#
# Expected: those of the requests, or none. "Summaries calculate percentiles of observed values" (README), and the same
# README says of the percentiles that prom-client itself records that they "are averaged, which is not perfectly
# accurate".
# Found: the sum over the workers. If each of 4000 requests takes 10 ms, the median and the p99 are 40 ms, and they grow
# with each worker that is added. The README only says that "custom metrics are summed across workers by default",
# which is right for the summary's sum and count. With `aggregator: "average"` those two are averaged, too, so no
# setting gives both.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . prom-client@15.1.3 >/dev/null 2>&1
cat >probe.js <<'JS'
const cluster = require("node:cluster");
const { AggregatorRegistry, Summary } = require("prom-client");

const WORKERS = 4;
const registry = new AggregatorRegistry();

/** Aggregated values by name. */
function values(text) {
  const lines = text.split("\n").filter((line) => line.startsWith("http"));
  return Object.fromEntries(lines.map((line) => line.split(" ")).map(([name, value]) => [name, Number(value)]));
}

if (cluster.isPrimary) {
  console.log("prom-client", require("prom-client/package.json").version);
  let ready = 0;
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork();
  cluster.on("message", async (_, message) => {
    if (message !== "ready" || ++ready < WORKERS) return;
    const text = await registry.clusterMetrics();
    console.log(text.split("\n").filter((line) => line.startsWith("http")).join("\n"));
    const found = values(text);
    const wrong = ["0.5", "0.99"].every((q) => Math.abs(found[`http_summed{quantile="${q}"}`] - 0.04) < 1e-9);
    const right = found.http_summed_count === 4000 && Math.abs(found.http_summed_sum - 40) < 1e-6;
    const averaged = Math.abs(found['http_averaged{quantile="0.99"}'] - 0.01) < 1e-9;
    process.exit(right && wrong && averaged && found.http_averaged_count === 1000 ? 0 : 1);
  });
} else {
  for (const [name, aggregator] of [["http_summed", undefined], ["http_averaged", "average"]]) {
    const options = { name, help: "Response times, seconds.", percentiles: [0.5, 0.99] };
    const summary = new Summary(aggregator ? { ...options, aggregator } : options);
    for (let request = 0; request < 1000; request++) summary.observe(0.01);
  }
  process.send("ready");
}
JS
timeout 60 node probe.js
