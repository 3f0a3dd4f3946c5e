# `make` prints what there is to do. Every target first sets up what it needs; a set-up that is
# complete takes a tenth of a second. From elsewhere: `make -C PATH TARGET`.

# Tests and figures measure: a compiler beside them would be measured, too.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help setup tour test test-long test-programs snapshots lint generated messages reference manual lock licences audit wheels reproducible soak fuzz mutants format clean

BIN := .venv/bin
# Arguments for pytest, as in `make test PYTEST="-k pacing"`.
PYTEST ?=
# Only tests that a change needs, as in `make test SINCE=origin/main`.
SINCE ?=
export SINCE
# Seconds a target, and targets, for the fuzzer, as in `make fuzz FUZZ="60 tally"`.
FUZZ ?= 10
# Arguments for the soak, as in `make soak SOAK="--time 60 --testbed loopback"`.
SOAK ?= --time 600
# Arguments for the small faults, as in `make mutants MUTANTS="statistics measure --seed 3"`.
MUTANTS ?=
CARGO_FLAGS := --workspace --locked
# Many tests wait for peers and clocks: three a processor.
RUST_TESTS = $(BIN)/cargo-nextest nextest run $(CARGO_FLAGS) --test-threads $$((3 * $$(getconf _NPROCESSORS_ONLN)))

help: ## Print this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 \t\2/p' Makefile | expand -t 18

setup: ## Build .venv with the engine, the packages and lanlab
	@bash tools/setup.sh

tour: setup ## Measure two studies on a virtual LAN, simulate them, and write the report
	@$(BIN)/lanlab tour

test: test-programs ## Run every test that decides correctness, Rust and Python
	$(RUST_TESTS) $(if $(SINCE),$$($(BIN)/python tools/changed_tests.py $(SINCE) --nextest))
	bash tools/test_python.sh $(PYTEST)

test-long: test-programs ## Run all tests, the long ones too, releases, fuzzing and small faults: hours
	$(RUST_TESTS) --profile long --run-ignored all
	SINCE= bash tools/test_python.sh --long
	bash tools/test_long.sh

test-programs: setup
	@$(BIN)/python -m pip --quiet --disable-pip-version-check --no-input install --no-deps \
		--require-hashes --only-binary :all: --requirement requirements-dev.lock \
		--requirement requirements-tests.lock

snapshots: test-programs ## Accept the wording of today: read the diff of tests/**/__snapshots__ after it
	$(BIN)/python -m pytest $$(grep -rl SnapshotAssertion --include 'test_*.py' tests) --snapshot-update

fuzz: ## Feed every parser of engine and services with input that a fuzzer makes up
	bash tools/fuzz.sh $(FUZZ)

lint: test-programs ## Check format, types, layers and generated files
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy $(CARGO_FLAGS) --all-targets --quiet -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/check_import_circles.py
	$(BIN)/python tools/plain_words.py
	$(BIN)/python tools/check_disk_calls.py
	$(BIN)/python tools/generated_files.py --check

generated: test-programs ## Make all generated files anew: messages, licences, reference
	$(BIN)/python tools/generated_files.py

format: test-programs ## Put Rust and Python into form
	cargo fmt --all
	$(BIN)/ruff check --fix --select I
	$(BIN)/ruff format

messages: test-programs ## Write the schema and types of the engine's messages anew
	$(BIN)/python tools/generate_messages.py

lock: setup ## Make requirements.lock anew, with the newest versions allowed
	$(BIN)/python tools/lock.py

reference: test-programs ## Write the reference of parameters, metrics and file services
	$(BIN)/python tools/reference.py

manual: setup ## Write the manual page from the help of all commands into dist
	mkdir -p dist && $(BIN)/python tools/manual.py dist/lanlab.1

licences: setup ## List the licences of all that lanlab is delivered with, in dist/licences.md
	$(BIN)/python tools/licences.py

audit: test-programs ## Look for known vulnerabilities of what lanlab is made of
	$(BIN)/python tools/audit.py

wheels: test-programs licences ## Build both wheels into dist, the same bytes everywhere, and the list of licences
	bash tools/wheels.sh dist

reproducible: test-programs ## Build both wheels here and elsewhere, and compare them
	bash tools/reproducible.sh

soak: setup ## Run mixed conditions for 10 minutes and see whether anything grows
	$(BIN)/python bench/soak.py $(SOAK)

mutants: test-programs ## Put small faults into what decides numbers, one by one, and see which tests catch them
	nice -n 19 $(BIN)/python tools/mutants.py $(MUTANTS)

clean: ## Remove what was built; records stay
	rm -rf .venv target dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +
