#!/usr/bin/env bash
# sirv: which bytes of a file does it send for `Range: bytes=0-0`?
#
# Expected: one, the first. Clients ask for it to learn the size of a file and whether ranges work.
# Found: the whole file, as 206 with `Content-Range: bytes 0-999999/1000000`: the end 0 is taken for a missing one. In
# the same way, `bytes=-8`, the last eight (RFC 9110, section 14.1.2), brings the first nine, and `lines=0-9`
# brings ten bytes (section 14.2: ignore unknown units). A range that starts later, such as 1-1, is right.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . sirv@3.0.2 express@5.2.1 >/dev/null 2>&1
cat >probe.js <<'JS'
const { createServer } = require("node:http");
const { mkdirSync, writeFileSync } = require("node:fs");
const express = require("express");
const sirv = require("sirv");

const SIZE = 1_000_000;
const whole = Buffer.alloc(SIZE, "0123456789");
mkdirSync("files");
writeFileSync("files/whole", whole);

async function asked(server, range) {
  const response = await fetch(`http://127.0.0.1:${server.address().port}/whole`, { headers: { range } });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, range: response.headers.get("content-range"), length: body.length };
}

(async () => {
  console.log("sirv", require("sirv/package.json").version, "and Express", require("express/package.json").version);
  const found = {};
  for (const [name, handler] of [["sirv", sirv("files")], ["Express", express().use(express.static("files"))]]) {
    const server = createServer(handler);
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    for (const range of ["bytes=0-0", "bytes=1-1", "bytes=-8", "lines=0-9"]) {
      const { status, range: answered, length } = await asked(server, range);
      found[`${name} ${range}`] = `${status} ${answered} ${length}`;
      console.log(`${name.padEnd(8)} ${range.padEnd(18)} ${status} ${String(answered).padEnd(26)} ${length} bytes`);
    }
    server.closeAllConnections();
    server.close();
  }
  const right =
    found["Express bytes=0-0"] === "206 bytes 0-0/1000000 1" &&
    found["Express bytes=-8"] === "206 bytes 999992-999999/1000000 8" &&
    found["sirv bytes=1-1"] === "206 bytes 1-1/1000000 1";
  const wrong =
    found["sirv bytes=0-0"] === "206 bytes 0-999999/1000000 1000000" &&
    found["sirv bytes=-8"] === "206 bytes 0-8/1000000 9" &&
    found["sirv lines=0-9"] === "206 bytes 0-9/1000000 10";
  process.exit(right && wrong ? 0 : 1);
})();
JS
node probe.js
