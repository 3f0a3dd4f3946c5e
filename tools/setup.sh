#!/usr/bin/env bash
# Builds .venv: the locked Python packages, the engine, and lanlab itself, editable. Run by
# `make setup`. Each step leaves a stamp of its inputs in .venv and is skipped while they are the
# same, so that only what has changed is done again. LANLAB_BUILT_ENGINE names an engine that is built
# already, which is taken as it is: `.ci/run` and who works on the engine spare a second build.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
# What is printed is the answer to "what is being done"; nothing is printed if nothing is.
say() { printf '%s\n' "setup: $*"; }
refuse() {
    printf '%s\n' "error: $1" "hint: $2" >&2
    exit 2
}

# --- What must be there -------------------------------------------------------------------------

oldest_python=$(sed -n 's/^requires-python = ">=\(.*\)"/\1/p' pyproject.toml)
oldest_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

is_new_enough_python() {
    "$1" -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$oldest_python'.split('.'))))" \
        2>/dev/null
}

find_python() {
    local name
    for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v -- "$name" >/dev/null && is_new_enough_python "$name"; then
            python=$name
            return
        fi
    done
    refuse "need Python $oldest_python or newer, found $(python3 --version 2>/dev/null || echo none)" \
        "install it, or name it as in \`make setup PYTHON=/opt/python/bin/python3\`"
}

check_venv() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        refuse "$("$python" --version) cannot make virtual environments: it lacks venv or ensurepip" \
            "on Debian and Ubuntu: apt install python3-venv"
}

check_rust() {
    local found newer
    # Asked before anything is downloaded, and not again once the engine is there.
    [[ -z ${LANLAB_BUILT_ENGINE:-} ]] || return 0
    is_done engine "$(engine_inputs)" && return
    found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || true
    if [[ -z $found ]] || ! command -v cargo >/dev/null; then
        refuse "need cargo and rustc $oldest_rust or newer, found none on PATH" \
            "install Rust as https://rustup.rs says, then open a new shell"
    fi
    newer=$(printf '%s\n' "$oldest_rust" "${found%%-*}" | sort -V | tail -n 1)
    [[ $newer == "${found%%-*}" ]] ||
        refuse "need rustc $oldest_rust or newer, found $found" "rustup update stable"
    command -v cc >/dev/null || command -v clang >/dev/null ||
        refuse "need a C linker (\`cc\`) to link the engine, found none on PATH" \
            "on Debian and Ubuntu: apt install gcc libc6-dev"
}

has_tool() {
    PATH="$PATH:/usr/sbin:/sbin:/usr/local/sbin" command -v "$1" >/dev/null
}

# Without these tools everything works but the virtual testbed: no reason to stop.
check_network_tools() {
    [[ $(uname -s) == Linux ]] || return 0
    if ! { has_tool ip && has_tool tc && has_tool bridge; } &&
        [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
        say "installing iproute2, for the virtual testbed"
        {
            apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y iproute2
        } </dev/null >/dev/null || true
    fi
    local name missing=()
    for name in ip tc bridge unshare nsenter; do
        has_tool "$name" || missing+=("$name")
    done
    if [[ ${#missing[@]} -gt 0 ]]; then
        say "the virtual testbed will not work: no \`${missing[*]}\`." \
            "On Debian and Ubuntu: apt install iproute2 util-linux"
    fi
}

# --- Stamps -------------------------------------------------------------------------------------

digest() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

# Whether a step was done with these inputs: is_done STEP INPUTS
is_done() {
    [[ -f .venv/.setup/$1 && $(<".venv/.setup/$1") == "$2" ]]
}

mark_done() {
    mkdir -p .venv/.setup
    printf '%s\n' "$2" >".venv/.setup/$1"
}

# --- Steps --------------------------------------------------------------------------------------

make_environment() {
    # Its programs name their interpreter by path: a tree that was moved needs a new one.
    local inputs=$root
    if is_done environment "$inputs" && is_new_enough_python .venv/bin/python; then
        return
    fi
    find_python
    check_venv
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
    mark_done environment "$inputs"
}

install_packages() {
    local inputs
    inputs=$(digest <requirements.lock)
    is_done packages "$inputs" && return
    say "installing the packages of requirements.lock"
    pip install --require-hashes --requirement requirements.lock
    mark_done packages "$inputs"
}

engine_inputs() {
    {
        rustc --version 2>/dev/null || true
        find crates -type f -print0 | LC_ALL=C sort -z | xargs -0 cat -- Cargo.toml Cargo.lock
    } | digest
}

is_engine_done() {
    is_done engine "$(engine_inputs)" && [[ -x .venv/bin/lanlab-engine ]]
}

compiling= compiled=target/setup.log
trap '[[ -z $compiling ]] || kill "$compiling" 2>/dev/null || true' EXIT

# The compiler works while packages are installed: near its end it keeps one processor busy, and pip
# all the while. A failure is told by `install_engine`, which asks for the same.
start_engine() {
    is_engine_done && return
    [[ -z ${LANLAB_BUILT_ENGINE:-} ]] || return 0
    mkdir -p target
    bash tools/wheels.sh --compile >"$compiled" 2>&1 &
    compiling=$!
}

# Every 15 s, how many crates are compiled and how long that took. The engine comes last and takes
# about half of the time.
show_compiling() {
    local all began=$SECONDS crates=0
    all=$(cargo tree --locked --prefix none --edges normal,build --package lanlab-engine 2>/dev/null |
        sed 's/ (\*)$//' | sort -u | wc -l)
    say "this takes 5 to 11 minutes on two processors"
    while kill -0 "$compiling" 2>/dev/null; do
        sleep 1
        (((SECONDS - began) % 15 == 0)) || continue
        crates=$(grep -c '^ *Compiling' "$compiled") || true
        if ((crates < all)); then
            say "$crates of $all crates after ${SECONDS} s"
        else
            say "optimising the engine, the last step, after ${SECONDS} s"
        fi
    done
}

install_engine() {
    local inputs
    inputs=$(engine_inputs)
    is_engine_done && return
    local own=target/wheels/own engine
    mkdir -p "$own"
    rm -f -- "$own"/*.whl
    if [[ -n ${LANLAB_BUILT_ENGINE:-} ]]; then
        say "taking the engine $LANLAB_BUILT_ENGINE"
        engine=$own/engine
        # Without symbols, as it is delivered: hosts that get a copy may have little room.
        strip -o "$engine" -- "$LANLAB_BUILT_ENGINE"
    else
        say "building the engine with $(rustc --version)"
        # As it is delivered: `make wheels` and `make reproducible` find it built.
        [[ -z $compiling ]] || show_compiling
        wait "$compiling" || true
        compiling=
        engine=$(bash tools/wheels.sh --compile)
    fi
    .venv/bin/python tools/engine_wheel.py "$engine" "$own" >/dev/null
    pip install --no-deps --force-reinstall "$own"/*.whl
    mark_done engine "$inputs"
}

install_package() {
    local inputs
    inputs=$(digest <pyproject.toml)
    is_done package "$inputs" && return
    say "installing lanlab, editable"
    pip install --no-build-isolation --no-deps --editable .
    local found
    # Test programs, of an earlier `make test`, have no dependencies installed.
    found=$(.venv/bin/python -m pip check | grep -vE \
        "^No broken|^($(sed -n 's/==.*/|/p' requirements-tests.lock | tr -d '\n')-) ") && {
        say "packages that do not go together: $found" >&2
        return 1
    }
    mark_done package "$inputs"
}

pip() {
    .venv/bin/python -m pip --quiet --disable-pip-version-check --no-input "$@"
}

check_rust
check_network_tools
make_environment
start_engine
install_packages
install_engine
install_package
