#!/usr/bin/env bash
# SimJS (npm `simjs`): how often does a request finish that a later one interrupts (facility of the kind LCFS)?
#
# Expected: once. The facility serves the last request first, and resumes the interrupted one afterwards.
# Found: twice, at the same time, if it is resumed before the end that was planned at first. That end stays in SimJS's
# event queue, and finishes the request again. At a load of 0.7, a server finishes 22 % more requests than arrive, so
# throughput is too high. FCFS is right.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . simjs@2.0.3 >/dev/null 2>&1
cat >probe.js <<'JS'
const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");

// The package is made for browsers.
globalThis.window = globalThis;
runInThisContext(readFileSync("node_modules/simjs/sim.js", "utf8"));
const { DataSeries, Entity, Facility, Random, Sim } = globalThis.Sim;
console.log("SimJS", require("./node_modules/simjs/package.json").version);

/** When each request finishes; each comes at a time and needs a service time. */
function ends(kind, requests) {
  const found = [];
  const facility = new Facility("server", Facility[kind], 1);
  class Client extends Entity {
    start() {
      for (const [name, at, service] of requests)
        this.setTimer(at).done(() => this.useFacility(facility, service).done(() => found.push(`${name} at ${this.time()}`)));
    }
  }
  const simulation = new Sim();
  simulation.addEntity(Client);
  simulation.simulate(1000);
  return found.join(", ");
}

/** Requests that arrive and that finish, and the mean response time, of one server at a load. */
function serve(kind, load, seconds) {
  const facility = new Facility("server", Facility[kind], 1);
  const random = new Random(1);
  const responses = new DataSeries("responses");
  let arrivals = 0;
  class Clients extends Entity {
    start() {
      const arrived = this.time();
      arrivals++;
      this.useFacility(facility, random.exponential(1)).done(() => responses.record(this.time() - arrived));
      this.setTimer(random.exponential(load)).done(this.start, this);
    }
  }
  const simulation = new Sim();
  simulation.addEntity(Clients);
  simulation.simulate(seconds);
  return { arrivals, finished: responses.count(), mean: responses.average() };
}

const requests = [["A", 0, 10], ["B", 5, 10], ["C", 8, 2]];
console.log(`A comes at 0 and needs 10, B at 5 and needs 10, C at 8 and needs 2`);
const found = {};
for (const kind of ["FCFS", "LCFS"]) {
  const { arrivals, finished, mean } = serve(kind, 0.7, 30_000);
  found[kind] = { ends: ends(kind, requests), ratio: finished / arrivals };
  console.log(`${kind}: finished ${found[kind].ends}`);
  console.log(`  load 0.7: ${arrivals} requests arrive, ${finished} finish; mean response ${mean.toFixed(2)} (3.33)`);
}
const right = found.FCFS.ends === "A at 10, B at 20, C at 22" && Math.abs(found.FCFS.ratio - 1) < 0.002;
const wrong = found.LCFS.ends === "C at 10, B at 17, B at 17, A at 22" && found.LCFS.ratio > 1.15;
process.exit(right && wrong ? 0 : 1);
JS
node probe.js
