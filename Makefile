# One command for each thing. `make demo` and `make test` set everything up by themselves.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORE := $(VENV)/.core
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
REPORT := results/report

.PHONY: help demo test test-rust test-python lint format simulate bench instructions validate figures docs wheel clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(READY): requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	touch $@

$(CORE): $(READY) $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked --quiet
	touch $@

demo: $(CORE) ## set up, reproduce the MRED paper and name the report to open
	$(BIN)/aqmlab reproduce mred --seeds 10 --report $(REPORT)/mred

test: test-rust test-python ## all tests

test-rust:
	cargo test --workspace --locked --quiet

test-python: $(CORE)
	$(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile

lint: $(CORE) ## formatting, clippy, ruff, mypy, layers of the Python package
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(CORE) ## format all sources
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

simulate:
	cargo build --release --locked --quiet --package aqmlab-scenario --example simulate

bench: $(CORE) simulate ## speed against ns-2 (needs the command ns); options in BENCH, as docs/performance.md tells
	PYTHONPATH=benches $(BIN)/python -m speed $(BENCH)

instructions: $(CORE) simulate ## instruction counts of short runs beside those written down (needs valgrind)
	$(BIN)/python benches/instructions.py

validate: $(CORE) ## slow comparisons with ns-2 (needs the command ns), all combinations; writes docs/
	$(BIN)/python tests/validate.py
	$(BIN)/python tests/combinations.py

figures: $(CORE) ## draw the figures of docs/analysis anew
	$(BIN)/python docs/analysis/figures.py

docs: $(CORE) ## the documentation site in site/, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/builder/links.py site

wheel: $(READY) ## a wheel for Linux that installs without Rust, in dist/, tested in an environment of its own
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-wheel.lock
	PATH=$(abspath $(BIN)):$$PATH maturin build --release --locked --zig --compatibility manylinux2014 --out dist
	$(BIN)/maturin sdist --out dist
	$(BIN)/python tests/check_wheel.py dist

clean: ## remove everything that was made
	rm -rf $(VENV) target results site dist
