# `make` prints what there is to do. Every target first sets up what it needs; a set-up that is
# complete takes a tenth of a second. From elsewhere: `make -C PATH TARGET`.

# Tests and figures measure: a compiler beside them would be measured, too.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help setup tour test lint messages lock format clean

BIN := .venv/bin
# Arguments for pytest, as in `make test PYTEST="-k pacing"`.
PYTEST ?=
CARGO_FLAGS := --workspace --locked

help: ## Print this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1 \t\2/p' Makefile | expand -t 18

setup: ## Build .venv with the engine, the packages and lanlab
	@bash tools/setup.sh

tour: setup ## Run two studies on a virtual LAN and write the report
	@$(BIN)/lanlab tour

test: setup ## Run every test, Rust and Python
	cargo test $(CARGO_FLAGS) --quiet
	$(BIN)/pytest $(PYTEST)

lint: setup ## Check format, types, layers and generated files
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --all-targets --quiet -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/generate_messages.py --check

format: setup ## Put Rust and Python into form
	cargo fmt --all
	$(BIN)/ruff check --fix --select I
	$(BIN)/ruff format

messages: setup ## Make the Python types of the engine's messages anew
	$(BIN)/python tools/generate_messages.py

lock: setup ## Make requirements.lock anew, with the newest versions allowed
	$(BIN)/python tools/lock.py

clean: ## Remove what was built; records stay
	rm -rf .venv target dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +
