# make quickstart   see it work: set-up, then the embedded corpus
# make test         set-up, lint, format, types, all tests but the heavy proofs
# make test-all     the heavy proofs too

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: quickstart test test-all check clean

quickstart: $(READY)
	$(BIN)/funnelling quickstart -o quickstart --force

test: check
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: check
	$(BIN)/python -m pytest -n auto

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Also run again when what the install depends on has changed.
$(READY): pyproject.toml setup.py $(wildcard native/*)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "funnelling needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf .venv build dist quickstart src/*.egg-info src/funnelling/svm/_native*.so
