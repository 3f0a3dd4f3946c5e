#!/usr/bin/env bash
# hdr-histogram-js: what are the percentiles of more than 4,294,967,295 response times?
#
# Expected: those of the times, however many there are, as in the other ports of HdrHistogram; or an error.
# Found: 0. By default a bucket counts in 32 bits and starts again at 0, while `totalCount` goes on. So the buckets
# never add up to the share that a percentile asks for. Histograms of 64 bits, such as those of other languages,
# change as they are read: the default reads them with 32 bits, and 5.9 billion quick answers become 1.6 billion.
# `bitBucketSize: 64` and "packed" are right, if given at both places. The README does not say what overflows.
# A change that would report it has been open since 2020.
# Exits 1 if that has changed. Needs npm, node.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --prefix . hdr-histogram-js@3.0.1 >/dev/null 2>&1
cat >sum.js <<'JS'
const { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } = require("hdr-histogram-js");
console.log("hdr-histogram-js", require("hdr-histogram-js/package.json").version);
const PERCENTILES = [50, 90, 98, 99.9];
const found = {};
function show(title, histogram) {
  found[title] = PERCENTILES.map((percentile) => histogram.getValueAtPercentile(percentile));
  const values = PERCENTILES.map((percentile, index) => `p${percentile} ${found[title][index]}`);
  console.log(`${title.padEnd(22)} ${histogram.totalCount} values: ${values.join(", ")}`);
}
for (const [title, options] of [["32 bits, default", {}], ["64 bits", { bitBucketSize: 64 }]]) {
  const sum = build(options);
  for (let run = 1; run <= 60; run++) {
    const answers = build(options); // of one station: 98.5 % after 1000 µs, 1.5 % after 50,000 µs
    answers.recordValueWithCount(1000, 98_500_000);
    answers.recordValueWithCount(50_000, 1_500_000);
    sum.add(answers);
    if (run === 40) show(`${title}, 40 runs`, sum);
  }
  show(`${title}, 60 runs`, sum);
  if (options.bitBucketSize) {
    const encoded = encodeIntoCompressedBase64(sum);
    show("  read, default", decodeFromCompressedBase64(encoded));
    show("  read with 64 bits", decodeFromCompressedBase64(encoded, 64));
  }
}
const right = [1000, 1000, 1000, 50_015].join();
const is = (title, values) => found[title].join() === values;
const good = ["32 bits, default, 40 runs", "64 bits, 40 runs", "64 bits, 60 runs", "  read with 64 bits"];
const wrong = is("32 bits, default, 60 runs", "0,0,0,0");
process.exit(good.every((title) => is(title, right)) && wrong && !is("  read, default", right) ? 0 : 1);
JS
node sum.js
