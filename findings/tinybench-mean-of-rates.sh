#!/usr/bin/env bash
# tinybench: which of two servers does "Throughput avg (ops/s)" call faster?
#
# Expected: the one that serves more requests in the same time; one request waits for the one before.
# Found: the slower one. tinybench converts each time to a rate and averages the rates. One server needs 30 ms for each
# request and is given about 30 requests per second. The other needs 10 ms for nine requests and a second for the
# tenth. It serves 9 per second, but tinybench prints 60 to 80. The README speaks only of "throughput"; a
# comment in the types explains the "mean of those rates". 1000 / mean latency is right.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . tinybench@6.2.5 >/dev/null 2>&1
cat >probe.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createServer, get, Agent } from "node:http";
import { performance } from "node:perf_hooks";
import { Bench } from "tinybench";

const package_json = JSON.parse(readFileSync("node_modules/tinybench/package.json"));
console.log("tinybench", package_json.version);
const REQUESTS = 20;

/** Serves each request after the time that `wait_ms` gives for its number. */
async function measure(name, wait_ms) {
  let requests = 0;
  const server = createServer((_, response) => setTimeout(() => response.end(), wait_ms(++requests)));
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const options = { host: "127.0.0.1", port: server.address().port, agent };
  const request = () =>
    new Promise((done, fail) => get(options, (response) => response.resume().on("end", done)).on("error", fail));
  const bench = new Bench({ time: 0, iterations: REQUESTS, warmup: false });
  bench.add(name, request, { async: true });
  const started = performance.now();
  await bench.run();
  const seconds = (performance.now() - started) / 1000;
  console.table(bench.table());
  agent.destroy();
  server.close();
  const { latency, throughput } = bench.tasks[0].result;
  const true_rate = requests / seconds;
  console.log(`  ${requests} requests in ${seconds.toFixed(2)} s: ${true_rate.toFixed(1)} per second`);
  console.log(`  1000 / mean latency: ${(1000 / latency.mean).toFixed(1)}`);
  return { true_rate, mean: throughput.mean, by_latency: 1000 / latency.mean };
}

const steady = await measure("steady", () => 30);
const pausing = await measure("pausing", (number) => (number % 10 === 0 ? 1000 : 10));
const right = [steady, pausing].every((it) => Math.abs(it.by_latency / it.true_rate - 1) < 0.2);
const reversed = steady.true_rate > 2 * pausing.true_rate && pausing.mean > steady.mean;
process.exit(right && reversed ? 0 : 1);
JS
node probe.mjs
