# One command for each thing. `make demo` and `make test` install what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORE := $(VENV)/.core
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# rustfmt does not find modules that a macro declares.
PARTS := $(wildcard crates/aqm/src/red/*/*.rs crates/aqm/src/disciplines/*.rs crates/aqm/src/disciplines/*/mod.rs crates/transport/src/rfc/sender/congestion/*.rs \
  crates/transport/src/rfc/sender/congestion/*/mod.rs crates/netsim/src/link/server/*.rs crates/netsim/src/link/channel/*.rs)
# Families of disciplines, each of which is compiled alone too.
FAMILIES := $(filter-out default replay,$(shell sed -n '/^\[features\]/,/^\[\[/s/^\([a-z0-9]*\) = .*/\1/p' crates/aqm/Cargo.toml))
WASM := python/aqmlab/lab/aqmlab.wasm
REPORT := results/report
comma := ,

.PHONY: help check demo test test-rust test-python rust-tests lint lint-rust lint-python format simulate web bench \
  instructions validate figures docs wheel wheels container man check-archives c c-wasm install-c install-c-files \
  crates semver clean

help: ## this list, with times on two cores
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

$(READY): requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	touch $@

$(CORE): $(READY) $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked --quiet
	touch $@

# Without the target (no network) what needs the simulator in the browser is skipped.
web: ## the simulator for browsers, which `aqmlab lab --out` needs (1 min; installs the target wasm32-unknown-unknown)
	@if rustup target add wasm32-unknown-unknown >/dev/null 2>&1; then $(MAKE) --no-print-directory $(WASM); \
	else echo "make web: skipped, since rustup cannot install the target wasm32-unknown-unknown here" >&2; fi

$(WASM): $(RUST_SOURCES) build_backend/simulator.py
	$(PYTHON) build_backend/simulator.py

# The C library (docs/embedding.md). The name of the shared one has the number of its interface.
PREFIX ?= /usr/local
C_LIBRARIES ?= $${CARGO_TARGET_DIR:-target}/release
ABI := $(shell sed -n 's/^\#define AQMLAB_ABI //p' include/aqmlab.h)
SONAME := $(if $(filter Linux,$(shell uname)),-C link-arg=-Wl$(comma)-soname$(comma)libaqmlab.so.$(ABI))
INSTALLED = $(DESTDIR)$(PREFIX)

c: ## libaqmlab.a and libaqmlab.so, for C
	cargo rustc --release --package aqmlab-c --lib --crate-type staticlib,cdylib --locked --quiet -- $(SONAME)

install-c: c ## the C library, its header and its file for pkg-config in PREFIX (/usr/local)
	$(MAKE) --no-print-directory install-c-files

install-c-files:
	install -d $(INSTALLED)/include $(INSTALLED)/lib/pkgconfig
	install -m 644 include/aqmlab.h $(INSTALLED)/include
	install -m 644 $(C_LIBRARIES)/libaqmlab.a $(INSTALLED)/lib
	install -m 755 $(C_LIBRARIES)/libaqmlab.so $(INSTALLED)/lib/libaqmlab.so.$(ABI)
	ln -sf libaqmlab.so.$(ABI) $(INSTALLED)/lib/libaqmlab.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e "s|@VERSION@|$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)|" \
	  crates/c/aqmlab.pc.in > $(INSTALLED)/lib/pkgconfig/aqmlab.pc

WASM_OF_C = $${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/web/aqmlab.wasm

c-wasm: ## the same functions as WebAssembly; node runs the test vectors through them
	rustup target add wasm32-unknown-unknown 2>/dev/null
	cargo rustc --profile web --target wasm32-unknown-unknown --package aqmlab-c --lib --crate-type cdylib --locked --quiet
	@if command -v node >/dev/null; then node vectors/run.mjs $(WASM_OF_C) vectors/*.jsonl; \
	else echo "make c-wasm: vectors skipped, since there is no node" >&2; fi

demo: $(CORE) ## install, reproduce the MRED paper and print the path of the report (1 min on a built tree)
	$(BIN)/aqmlab demo --no-open --report $(REPORT)/mred

test: test-rust test-python ## all tests (7 min on a built tree)

test-rust:
	cargo test --workspace --locked --quiet

# Debug builds of all tests, so that a gate can make them beside release builds, whose last step takes one core.
rust-tests: lint-rust
	cargo test --workspace --locked --quiet --no-run

# Tests that call make do so as a user, not as a part of this one. On two cores a third process works while live tests wait.
PYTEST := env -u MAKEFLAGS $(BIN)/python -m pytest --quiet --numprocesses 3 --dist loadfile

test-python: $(CORE) web
	$(PYTEST)

check: lint ## lints and the fast tests of both languages (1.5 min on a built tree)
	cargo test --workspace --locked --quiet --lib
	$(PYTEST) -m "not slow and not live and not ns2 and not browser"

lint: lint-rust lint-python ## formatting, clippy, ruff, mypy, language, layers (1.5 min)

lint-rust:
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(PARTS)
	cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
	set -e; for family in "" $(FAMILIES); do \
	  cargo clippy --package aqmlab-aqm --no-default-features --features "$$family" --locked --quiet -- --deny warnings; done
	RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps --locked --quiet

lint-python: $(CORE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/lint_language.py
	$(BIN)/lint-imports

format: $(CORE) ## format all sources
	cargo fmt --all
	rustfmt --edition 2024 $(PARTS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

simulate: $(CORE)
	cargo build --release --locked --quiet --package aqmlab-scenario --example simulate

bench: $(CORE) simulate ## speed against ns-2 (needs the command ns); options in BENCH, see benches/JOURNAL.md
	PYTHONPATH=benches $(BIN)/python -m speed $(BENCH)

instructions: $(CORE) simulate ## compare instruction counts of short runs with the recorded ones (1.5 min; needs valgrind)
	$(BIN)/python benches/instructions.py

validate: $(CORE) ## slow comparisons with ns-2 (needs the command ns), all combinations, attacks; writes docs/
	$(BIN)/python validation/validate.py
	$(BIN)/python validation/combinations.py
	$(BIN)/python validation/adversarial_attacks.py

figures: $(CORE) ## draw the figures of README, docs/trade-offs.md and docs/analysis
	$(BIN)/python docs/analysis/figures.py
	$(BIN)/aqmlab compare examples/dumbbell-red.toml --aqm drop-tail,red,codel --seeds 10 --out results/readme
	$(BIN)/aqmlab report results/readme/dumbbell-red-compare-drop-tail-red-codel --figure queues --out docs/queue-in-time.svg
	set -e; for link in lte starlink; do \
	  $(BIN)/aqmlab sweep example:$$link --grid queue.bottleneck.aqm=drop-tail,codel,fq-codel,pie,dualpi2 --grid flow.down.tcp.congestion_control=cubic,bbr,prague --set run.duration=300s --seeds 20 --out results/links; \
	  $(BIN)/aqmlab report results/links --figure sweep-$$link-trade-off --size wide --out docs/link-$$link.svg; done

docs: $(CORE) web ## the documentation site in site/, links checked, opened in Chromium (1 min)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/builder/links.py site
	$(BIN)/python docs/builder/hosted.py site

wheel: $(READY) web ## a wheel for Linux that installs without Rust, in dist/, tested in a separate environment (2 min)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-wheel.lock
	PATH=$(abspath $(BIN)):$$PATH maturin build --release --locked --zig --compatibility manylinux2014 --out dist
	$(BIN)/maturin sdist --out dist
	$(BIN)/python validation/check_wheel.py dist

# zig links all but that for Windows, for which maturin tells zig to export a name that no library has; mingw-w64 links it.
# LINKER=native takes the compiler of this machine. Only the wheels for Linux include live runs.
WHEELS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl \
  x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-gnu
LINKER ?= zig
tag = $(if $(findstring gnu,$(1)),--compatibility manylinux2014,$(if $(findstring musl,$(1)),--compatibility musllinux_1_2))

wheels: $(READY) web $(WHEELS:%=wheel-%) ## wheels for Linux, macOS and Windows, in dist/, from one Linux machine

wheel-%: $(READY) web
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-wheel.lock
	rustup target add $* 2>/dev/null
	PATH=$(abspath $(BIN)):$$PATH maturin build --release --locked $(if $(filter zig,$(LINKER)),$(if $(findstring windows,$*),,--zig)) --target $* $(call tag,$*) --out dist
	$(BIN)/python validation/check_wheel.py --complete dist

# podman, buildah and docker take the same words.
CONTAINER := $(or $(shell command -v podman || command -v buildah || command -v docker),podman)
BASE := docker.io/library/debian:trixie-slim

container: wheel ## an image that simulates without root, by podman, buildah or docker (Containerfile)
	$(CONTAINER) build --build-arg BASE=$(BASE) --tag aqmlab --file Containerfile .

man: $(CORE) ## the manual page, dist/aqmlab.1
	mkdir -p dist
	$(BIN)/aqmlab --man > dist/aqmlab.1

check-archives: $(READY) ## metadata, contents, stable ABI and libraries of the archives in dist/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-wheel.lock
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/abi3audit --strict --verbose dist/*.whl
	$(BIN)/python validation/check_libraries.py dist

CRATES := $(addprefix --package aqmlab-,units aqm transport netsim)

crates: ## pack the crates for crates.io and compile the packages, without publishing
	cargo publish --dry-run --locked $(CRATES)

# The revision of the last version; HEAD may have the tag of this one.
BASELINE = $(shell git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null)

semver: ## compare the interfaces of the crates with those of the revision BASELINE, the last tag (needs cargo-semver-checks)
	@if [ -z "$(BASELINE)" ]; then echo "make semver: no tag v*; name a revision: make semver BASELINE=REVISION" >&2; exit 1; fi
	cargo semver-checks --baseline-rev $(BASELINE) $(CRATES)

clean: ## remove all generated files
	rm -rf $(VENV) target results site dist $(WASM)
