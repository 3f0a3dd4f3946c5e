#!/usr/bin/env bash
# Apache Commons Math: does Wilcoxon's signed-rank test see a difference between equal paired trials?
#
# Expected: no. SciPy, Hipparchus (a fork of the same code) and Commons Statistics drop pairs without a
# difference or split them evenly. The order of the samples does not change a two-sided p-value.
# Found: equal pairs get ranks and count for one side. Eight trials against themselves are "significant" with
# p = 0.008, exact or approximate. If four of eight pairs are equal, swapping the samples changes p
# from 0.31 to 0.008. There is no exception; the manual only assumes "a continuous population".
# Reported as MATH-1233 in 2015, but not fixed in a release.
# Exits 1 if that has changed. Needs mvn, java 17, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
for artifact in org.apache.commons:commons-math3:3.6.1 org.hipparchus:hipparchus-core:4.0.2 \
    org.hipparchus:hipparchus-stat:4.0.2; do
    mvn -q -B dependency:copy "-Dartifact=$artifact" -DoutputDirectory=. >/dev/null 2>&1
done
python3 -m venv v && v/bin/pip -qq install --no-compile scipy==1.17.1 numpy==2.4.6
cat >Test.java <<'JAVA'
import java.util.Arrays;

public class Test {
    static String hipparchus(double[] first, double[] second) {
        try {
            return String.valueOf(new org.hipparchus.stat.inference.WilcoxonSignedRankTest()
                .wilcoxonSignedRankTest(first, second, true));
        } catch (org.hipparchus.exception.MathIllegalArgumentException error) {
            return "nan";
        }
    }

    public static void main(String[] arguments) {
        var test = new org.apache.commons.math3.stat.inference.WilcoxonSignedRankTest();
        double[][] trials = Arrays.stream(arguments)
            .map(it -> Arrays.stream(it.split(",")).mapToDouble(Double::parseDouble).toArray())
            .toArray(double[][]::new);
        System.out.println(test.wilcoxonSignedRankTest(trials[0], trials[1], true));
        System.out.println(test.wilcoxonSignedRankTest(trials[0], trials[1], false));
        System.out.println(hipparchus(trials[0], trials[1]));
    }
}
JAVA
v/bin/python - <<'PYTHON'
import subprocess
import sys
from importlib.metadata import version

import numpy as np
from scipy.stats import wilcoxon

before = [10, 11, 12, 13, 14, 15, 16, 17]
after = [10, 11, 12, 13, 15, 17, 19, 21]
faster = [9, 9, 9, 9, 9, 9, 9, 9]
print("Commons Math 3.6.1, Hipparchus 4.0.2, SciPy", version("scipy"))
print("p-values                      exact  approximate  Hipparchus    SciPy")
rows = {}
for title, pair in (
    ("eight pairs differ", (before, faster)),
    ("the same, other way round", (faster, before)),
    ("no pair differs", (before, before)),
    ("four of eight differ", (before, after)),
    ("the same, other way round ", (after, before)),
):
    command = ["java", "-cp", "*", "Test.java", *(",".join(map(str, trials)) for trials in pair)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    exact, approximate, hipparchus = map(float, printed.split())
    with np.errstate(invalid="ignore"):
        scipy = float(wilcoxon(*pair).pvalue)
    rows[title] = exact, approximate, hipparchus, scipy
    print(f"{title.strip():<28} {exact:>6.4f} {approximate:>12.4f} {hipparchus:>11.4f} {scipy:>8.4f}", flush=True)
differ, turned, none, half, half_turned = rows.values()
right = differ == turned and abs(differ[0] - differ[3]) < 1e-9 and half[2] == half_turned[2] > 0.1
wrong = none[0] < 0.01 and none[1] < 0.01 and half[0] > 0.3 and half_turned[0] < 0.01
sys.exit(not (right and wrong))
PYTHON
