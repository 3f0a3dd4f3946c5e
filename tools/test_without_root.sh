#!/usr/bin/env bash
# Runs the tests marked `rights`, and one measurement, as user nobody. Run as root, by `.ci/run`.
# Root's home, where Python and the clone may lie, is closed to others: they get a copy.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly NOBODY=65534
copy=$(mktemp -d "${TMPDIR:-/tmp}/lanlab nobody.XXXXXX")
trap 'rm -rf -- "$copy"' EXIT
mkdir -p "$copy/python" "$copy/lanlab" "$copy/home"
python=$(.venv/bin/python -c 'import sys; print(sys.base_prefix)')
tar -C "$python" -cf - --exclude=__pycache__ --exclude=lib/python3.*/test \
    --exclude=lib/python3.*/site-packages --exclude=lib/python3.*/config-* \
    --exclude=share --exclude=include bin lib | tar -C "$copy/python" -xf -
tar -cf - --exclude=__pycache__ pyproject.toml src tests examples | tar -C "$copy/lanlab" -xf -
cp -r .venv/lib/python3.*/site-packages "$copy/packages"
# A cluster of several nodes takes 20 s once more; it is the same for any user.
rm -rf -- "$copy/packages/ray"
cp .venv/bin/lanlab-engine "$copy/"
chown -R "$NOBODY:$NOBODY" "$copy"

as_nobody() {
    (cd "$copy/lanlab" && setpriv --reuid="$NOBODY" --regid="$NOBODY" --clear-groups \
        --no-new-privs env -i PATH=/usr/bin:/bin HOME="$copy/home" TMPDIR="$copy/home" \
        LANG=C.UTF-8 NO_COLOR=1 LANLAB_CI_MARK="${LANLAB_CI_MARK-}" \
        LD_LIBRARY_PATH="$copy/python/lib" PYTHONPATH="$copy/lanlab/src:$copy/packages" \
        LANLAB_ENGINE="$copy/lanlab-engine" "$copy/python/bin/python3" "$@")
}
as_nobody -m pytest -p no:cacheprovider -m rights tests/testbeds
as_nobody -c 'from lanlab.cli import main; main()' doctor || true
as_nobody -c 'from lanlab.cli import main; main()' stream --testbed loopback --time 0.5 \
    --store "$copy/home/store.sqlite" --json >"$copy/stream.json"
.venv/bin/python -m json.tool "$copy/stream.json" /dev/null
grep -q '"goodput_bps"' "$copy/stream.json"
echo "one measurement without root: done"
