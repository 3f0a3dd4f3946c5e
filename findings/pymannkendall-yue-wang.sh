#!/usr/bin/env bash
# pymannkendall: how often does `yue_wang_modification_test` find a trend in independent trials?
#
# Expected: in 5 % of the series at the default `alpha=0.05`. The test is the Mann–Kendall test, corrected for
# autocorrelation; without autocorrelation there is nothing to correct.
# Found: in more than 40 %, and more trials do not help. By default the correction sums the sample autocorrelation
# over all lags. In independent series that sum is -1/3 on average, which leaves a third of the true variance.
# `original_test` and `trend_free_pre_whitening_modification_test` of the package are right. A bench that checks its
# runs for drift this way discards good runs.
# Exits 1 if that has changed. Needs python3 with venv; takes 20 s.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv v && v/bin/pip -qq install --no-compile pymannkendall==1.4.3 numpy==2.4.6 scipy==1.17.1
v/bin/python - <<'PYTHON'
import sys
from importlib.metadata import version

import numpy as np
import pymannkendall

SERIES = 200
print(f"pymannkendall {version('pymannkendall')}: trends found in {SERIES} series of independent trials")
random = np.random.default_rng(1)
found = {}
for trials in (20, 60):
    series = random.normal(size=(SERIES, trials))
    for title, test in (
        ("original_test", pymannkendall.original_test),
        ("trend_free_pre_whitening", pymannkendall.trend_free_pre_whitening_modification_test),
        ("yue_wang", pymannkendall.yue_wang_modification_test),
    ):
        found[trials, title] = sum(test(values).h for values in series) / SERIES
        print(f"  {trials:>3} trials, {title:<25} {100 * found[trials, title]:>5.1f} %")
wrong = [found.pop((trials, "yue_wang")) for trials in (20, 60)]
sys.exit(not (all(rate < 0.1 for rate in found.values()) and all(rate > 0.25 for rate in wrong)))
PYTHON
