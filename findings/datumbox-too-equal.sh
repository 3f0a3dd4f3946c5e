#!/usr/bin/env bash
# Datumbox (Java): do two samples that have exactly the same spread differ in spread, by its Levene test?
#
# Expected: no; the test's p-value is 1. Only a large F speaks against equal variances.
# Found: yes, at 0.05 and also at 0.01. Datumbox rejects at both ends, so variances that are nearly equal count as
# different, too, and of two equal builds about 10 % "differ" at 0.05. In the same way, its Shapiro-Wilk test rejects
# trials that fit a normal distribution best, and about 10 % of normal samples. SciPy rejects 5 %.
# Exits 1 if that has changed. Needs mvn, java 17, python3 with venv.
set -euo pipefail
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here"
for artifact in com.datumbox:datumbox-framework-core:0.8.2 com.datumbox:datumbox-framework-common:0.8.2 \
    org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-nop:1.7.36; do
    mvn -q -B dependency:copy "-Dartifact=$artifact" -DoutputDirectory=. >/dev/null 2>&1
done
python3 -m venv v && v/bin/pip -qq install --no-compile scipy==1.17.1 numpy==2.4.6
cat >Probe.java <<'JAVA'
import com.datumbox.framework.common.dataobjects.FlatDataCollection;
import com.datumbox.framework.common.dataobjects.FlatDataList;
import com.datumbox.framework.common.dataobjects.TransposeDataCollection;
import com.datumbox.framework.core.statistics.nonparametrics.onesample.ShapiroWilk;
import com.datumbox.framework.core.statistics.parametrics.independentsamples.LevenesIndependentSamples;
import java.util.Scanner;

/** Reads studies of two samples, and prints whether each test rejects. */
public class Probe {
    static FlatDataCollection sample(String text) {
        FlatDataList values = new FlatDataList();
        for (String value : text.split(" ")) {
            values.add(Double.parseDouble(value));
        }
        return values.toFlatDataCollection();
    }

    public static void main(String[] arguments) {
        double level = Double.parseDouble(arguments[0]);
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            String first = lines.nextLine();
            TransposeDataCollection both = new TransposeDataCollection();
            both.put("first", sample(first));
            both.put("second", sample(lines.nextLine()));
            System.out.println(LevenesIndependentSamples.testVariances(both, level)
                + " " + ShapiroWilk.test(sample(first), level));
        }
    }
}
JAVA
v/bin/python - <<'PYTHON'
import subprocess
import sys
from importlib import metadata

import numpy as np
from scipy.stats import levene, norm, shapiro

STUDIES = 2000


def datumbox(studies, level=0.05):
    """Whether Levene's test of two samples rejects, and Shapiro and Wilk's of the first; of each study."""
    text = "\n".join(" ".join(map(str, map(float, sample))) for study in studies for sample in study)
    command = ["java", "-cp", "*", "Probe.java", str(level)]
    printed = subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout
    return [[word == "true" for word in line.split()] for line in printed.splitlines()]


def by_scipy(first, second):
    return float(levene(first, second, center="mean").pvalue), float(shapiro(first).pvalue)


print("Datumbox 0.8.2, SciPy", metadata.version("scipy"), "NumPy", np.__version__)
generator = np.random.default_rng(1)
best = 100 + 10 * norm.ppf((np.arange(20) + 0.5) / 20)
skewed = 100 - 10 * np.log1p(-(np.arange(20) + 0.5) / 20)
cases = {"same spread, normal": (best, best + 5), "four times the spread, skewed": (skewed, 4 * skewed)}
print(f"{'':<32} Levene rejects  SciPy's p   Shapiro-Wilk rejects  SciPy's p")
found = []
for title, study in cases.items():
    for level in (0.05, 0.01):
        [(spread, shape)] = datumbox([study], level)
        spread_p, shape_p = by_scipy(*study)
        found.append((spread, shape, spread_p, shape_p))
        print(f"{title} at {level}".ljust(38), f"{spread!s:>8} {spread_p:>10.4f} {shape!s:>22} {shape_p:>10.4f}")
studies = generator.normal(100, 10, (STUDIES, 2, 20))
shares = np.mean(datumbox(studies), axis=0)
true_shares = np.mean([[p <= 0.05 for p in by_scipy(*study)] for study in studies], axis=0)
print(f"rejected though true: Levene {shares[0]:.1%} (SciPy {true_shares[0]:.1%}), ", end="")
print(f"Shapiro-Wilk {shares[1]:.1%} (SciPy {true_shares[1]:.1%})")
equal, stricter, different, _ = found
wrong = equal[:2] == (True, True) and stricter[0] and equal[2] > 0.99 and equal[3] > 0.99
right = different[:2] == (True, True) and different[2] < 0.05 and different[3] < 0.05
sys.exit(not (wrong and right and all(shares > 0.08) and all(true_shares < 0.07)))
PYTHON
