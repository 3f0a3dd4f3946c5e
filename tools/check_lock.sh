#!/usr/bin/env bash
# Whether requirements.lock makes the same packages from nothing: into a new environment, with a new
# home and without any cache, pip installs what the lock has, by its hashes; the result must be
# what the lock says, and what .venv has.
#
#     tools/check_lock.sh [--here]
#
# With `--here` nothing is installed: .venv is known to be made so, as in `.ci/run`, and must be what
# the lock says, or requirements-ray.lock for the extra `ray`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lanlab-lock.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# Left in the environment is what says where packages come from, and nothing that remembers any.
fresh() { env HOME="$scratch/home" XDG_CACHE_HOME="$scratch/cache" PIP_NO_CACHE_DIR=1 "$@"; }
frozen() { "$1" -m pip freeze --all --exclude lanlab --exclude lanlab-engine | LC_ALL=C sort -f; }

install_anew() {
    mkdir -p "$scratch/home"
    fresh .venv/bin/python -m venv "$scratch/venv"
    fresh "$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check --no-input \
        install --require-hashes --only-binary :all: --requirement requirements.lock
    frozen "$scratch/venv/bin/python" >"$scratch/fresh.txt"
    # Here may be more: what tests need.
    if comm -13 "$scratch/here.txt" "$scratch/fresh.txt" | grep .; then
        echo "error: .venv does not have these, which requirements.lock makes" >&2
        echo "hint: make clean setup" >&2
        exit 1
    fi
}

case ${1-} in
    '' | --here) ;;
    *)
        echo "error: found \`$1\`; allowed: nothing, or --here" >&2
        exit 2
        ;;
esac
frozen .venv/bin/python >"$scratch/here.txt"
[[ ${1-} == --here ]] || install_anew
.venv/bin/python - requirements.lock requirements-dev.lock requirements-ray.lock \
    requirements-tests.lock "$scratch/here.txt" <<'COMPARE'
import re
import sys
from pathlib import Path

plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
pin = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)", re.MULTILINE)
locked: dict[str, set[str]] = {}
*locks, frozen = (Path(name).read_text() for name in sys.argv[1:])
for name, version in pin.findall("".join(locks)):
    locked.setdefault(plain(name), set()).add(version)
found = {plain(name): version for name, version in pin.findall(frozen)}
# These two come with `venv` itself.
strange = [
    f"{name}=={version}"
    for name, version in found.items()
    if version not in locked.get(name, ()) and name not in ("pip", "setuptools")
]
if strange:
    sys.exit(f"error: in no lock: {', '.join(strange)}")
print(f"{len(found)} packages, each as a lock says")
COMPARE
