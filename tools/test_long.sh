#!/usr/bin/env bash
# Runs what takes too long for `make test`, run by `make test-long`, as a nightly job does: the set-up of
# a user, wheels built twice, each target of the fuzzer for a minute, and a sample of small faults.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# From nothing: the engine as it is delivered, which names no folder of this machine.
place=$(mktemp -d "${TMPDIR:-/tmp}/lanlab-setup.XXXXXX")
trap 'rm -rf -- "$place"' EXIT
git clone --quiet -- . "$place/lanlab"
env -u CARGO_PROFILE_RELEASE_LTO -u CARGO_PROFILE_RELEASE_CODEGEN_UNITS \
    -u CARGO_PROFILE_RELEASE_OPT_LEVEL -u CARGO_TARGET_DIR -u LANLAB_BUILT_ENGINE \
    make --no-print-directory -C "$place/lanlab" setup
"$place/lanlab/.venv/bin/lanlab" stream --testbed loopback --time 0.5 --store "$place/store.sqlite"
for path in "$place" "${CARGO_HOME:-$HOME/.cargo}"; do
    if grep -qF -- "$path" "$place/lanlab/.venv/bin/lanlab-engine"; then
        echo "error: the engine names the folder that it was built in: $path" >&2
        exit 1
    fi
done

bash tools/reproducible.sh
bash tools/fuzz.sh 60

# A sample of small faults, other ones each day. A missed one is printed and no failure: it asks for a
# test (docs/reliability.md).
code=0
nice -n 19 .venv/bin/python tools/mutants.py statistics findings losses store --count 40 \
    --seed "$(date +%j)" || code=$?
[[ $code -le 1 ]]
