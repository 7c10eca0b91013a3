# Every target sets up what it needs in .venv. The stamp files in there are as old as the last
# install and depend on pyproject.toml, so a second run installs nothing and needs no network.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2

VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip --disable-pip-version-check --quiet

# Two test workers with one thread each: BLAS and OpenMP pools of two workers would fight for cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo demo-page test browser-check page-check fuzz lint bench bench-few-labels bench-layout reproduce data-named docs test-wheel test-oldest clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "make %-16s %s\n", $$1, $$2 }'

demo: $(VENV)/.runtime  ## labels and maps of the digits from 50 labels, as a picture in demo-output/
	$(BIN)/labelfold demo --out demo-output

demo-page: $(VENV)/.runtime  ## the labeling page on the digits, offline; Ctrl-C ends it
	$(BIN)/python tools/digits_table.py demo-output/digits.parquet
	$(BIN)/labelfold label demo-output/digits.parquet --image image

test: lint $(VENV)/.test  ## style, words, types, import order, then every test and doctest
	$(ONE_THREAD) $(BIN)/pytest $(PYTEST_ARGS)

browser-check: $(VENV)/.test  ## pages in a real Chromium, which has to be installed
	$(ONE_THREAD) LABELFOLD_BROWSER=required $(BIN)/pytest tests/browser

page-check: $(VENV)/.test  ## the labeling page: 50 kills at random moments, 10,000 fuzzed requests
	$(ONE_THREAD) LABELFOLD_KILLS=50 LABELFOLD_REQUESTS=10000 \
		$(BIN)/pytest tests/studio -k "kill or fuzz" --capture=no

fuzz: $(VENV)/.test  ## 50,000 cases of bad and extreme input, and 10,000 requests; continues where it ended
	$(ONE_THREAD) NUMBA_NUM_THREADS=1 $(BIN)/python -m tools.fuzz --summary benchmarks/results/fuzz.json
	$(ONE_THREAD) LABELFOLD_REQUESTS=10000 $(BIN)/pytest tests/studio -k fuzz --capture=no
	$(BIN)/python tools/reliability.py

lint: $(VENV)/.lint  ## style, words, types and import order only
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(VENV)/.bench  ## speed and memory against other packages
	$(BIN)/python benchmarks/run.py

FEW_LABELS := benchmarks/results/few_labels

bench-few-labels: data-named $(VENV)/.bench  ## errors of many methods with few labels; continues where it ended
	$(ONE_THREAD) NUMBA_NUM_THREADS=1 $(BIN)/python -m benchmarks.few_labels.run --out $(FEW_LABELS).jsonl
	$(BIN)/python -m benchmarks.few_labels.report $(FEW_LABELS).jsonl --keep $(FEW_LABELS).json --out $(FEW_LABELS).md

bench-layout: data-named $(VENV)/.bench  ## pictures by many methods; continues where it ended
	$(ONE_THREAD) NUMBA_NUM_THREADS=1 $(BIN)/python -m benchmarks.layout quality honesty steady new-rows threads
	$(BIN)/python -m benchmarks.layout time
	$(BIN)/python -m benchmarks.layout.report

reproduce: data-named $(VENV)/.runtime  ## the papers' tables and figures; LABELFOLD_DATA names the data directory
	$(BIN)/python -m reproductions all --data "$(LABELFOLD_DATA)" --out reproduce-output

data-named:
	@test -n "$(LABELFOLD_DATA)" || { \
		echo "make $(MAKECMDGOALS) reads data files that you have: LABELFOLD_DATA=/path/to/data make $(MAKECMDGOALS)" >&2; \
		exit 1; }

docs: $(VENV)/.docs  ## the documentation, in docs/_build/html
	$(BIN)/python tools/reliability.py --check
	$(BIN)/python tools/command_pages.py --check
	$(BIN)/python tools/deviations.py --check
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

test-wheel: $(VENV)/.created  ## the tests against the built wheel rather than the source tree
	rm -rf build/wheel build/wheel-venv
	$(BIN)/python $(PIP) wheel --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python $(PIP) install "$$(echo build/wheel/*.whl)[test]"
	cd build && wheel-venv/bin/python -c "import labelfold, sys; sys.exit('wheel-venv' not in labelfold.__file__)"
	$(ONE_THREAD) build/wheel-venv/bin/pytest $(PYTEST_ARGS) tests reproductions --pyargs labelfold

test-oldest: $(VENV)/.created  ## the tests on the lowest versions that pyproject.toml allows
	rm -rf build/oldest-venv
	mkdir -p build
	$(BIN)/python tools/lowest_versions.py pyproject.toml app dask > build/oldest.txt
	$(PYTHON) -m venv build/oldest-venv
	build/oldest-venv/bin/python $(PIP) install --constraint build/oldest.txt --editable ".[test]"
	$(ONE_THREAD) build/oldest-venv/bin/pytest $(PYTEST_ARGS)

clean:  ## remove everything the other targets made
	rm -rf $(VENV) build dist demo-output reproduce-output docs/_build docs/auto_examples docs/generated
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@command -v $(PYTHON) > /dev/null || { echo "No $(PYTHON) here. Name a Python 3.11 or newer: make PYTHON=/path/to/python $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "labelfold needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: pyproject.toml | $(VENV)/.created
	$(BIN)/python $(PIP) install --editable ".[app]"
	@touch $@

# Each extra installs the runtime dependencies too, hence the second stamp.
$(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(VENV)/.created
	$(BIN)/python $(PIP) install --editable ".[$*]"
	@touch $(VENV)/.runtime $@
