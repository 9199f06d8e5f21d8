# make quickstart     see it work: set-up, then the embedded corpus
# make test           set-up, lint, format, types, all tests but the heavy proofs
# make test-all       the heavy proofs too
# make coverage       make test's tests, with what of the code they reach: build/coverage/gaps.txt and html/;
#                     status 1 under 95 % of lines and branches
# make test-fallback  install where nothing can be compiled, and test scikit-learn in the solver's place
# make docs           build/site: the documentation, its examples run; warnings are errors
# make man            build/man: a man page for each command
# make test-versions  the sdist with the lowest and the newest versions of what it needs (half an hour);
#                     TESTS="tests/svm …" runs only those
# make release-check  a dry run of a release; TAG=v… asks for what the tag needs, too
# make attack         models, files, commands and the service under attack (ten minutes); status 1 on any finding
# make audit          look for known vulnerabilities of what is installed (needs the internet)
# make sanitize       look for memory errors in native/ (Linux, with gcc and Valgrind)
# make bench          beside scikit-learn: fit, predict, memory, growth, instruction sets, methods (an hour);
#                     status 1 where a wider instruction set is slower than a narrower one, or where a method
#                     got worse by more than a fifth since results were saved
# make bench-save     save the results of methods for this kind of machine, to commit them
# make figures        which figures of README and docs were measured before their code changed
# make test-image     the image, built and used by docker or podman, or where there is none by buildah and bubblewrap
# make wheels         dist/: an sdist, and a wheel that is installed and tested in a fresh environment

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
RIVALS := .venv/.rivals
# A worker keeps to its files, whose tests share fixtures, and helps another when it is done.
SPREAD := -n auto --dist worksteal

.PHONY: quickstart test test-all coverage test-fallback test-versions test-image docs man release-check attack audit sanitize bench bench-save figures wheels check clean

quickstart: $(READY)
	$(BIN)/funnelling quickstart -o quickstart --force

test: check
	$(BIN)/python -m pytest $(SPREAD) -m "not slow"

test-all: check $(RIVALS)
	$(BIN)/python -m pytest $(SPREAD)

# Measuring makes every start slower, so the test of how long that takes is left to `make test`.
coverage: $(READY)
	rm -rf build/coverage
	mkdir -p build/coverage
	$(BIN)/coverage run -m pytest $(SPREAD) -m "not slow" -k "not half_a_second" --durations 15
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --fail-under 0
	$(BIN)/coverage report > build/coverage/gaps.txt || { cat build/coverage/gaps.txt; exit 1; }
	tail -n 1 build/coverage/gaps.txt

test-fallback: $(READY)
	rm -rf build/fallback
	$(BIN)/python -m build --quiet --sdist --outdir build/fallback
	$(BIN)/python scripts/try_install.py build/fallback/*.tar.gz scikit-learn

docs: $(RIVALS)
	$(BIN)/python docs/site/build.py html build/site

man: $(READY)
	$(BIN)/python docs/site/build.py man build/man

test-versions: $(READY)
	rm -rf build/versions
	$(BIN)/python -m build --quiet --sdist --outdir build/versions
	$(BIN)/python scripts/try_versions.py build/versions/*.tar.gz lowest $(TESTS)
	$(BIN)/python scripts/try_versions.py build/versions/*.tar.gz newest $(TESTS)

release-check: $(READY)
	$(BIN)/python scripts/release.py $(TAG)

attack: $(READY)
	$(BIN)/python -m attack $(ATTACK)

# In an environment of its own, so that what it needs is not taken for ours.
audit: $(READY)
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	build/audit/bin/pip-audit --skip-editable --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

sanitize: $(READY)
	$(BIN)/python scripts/sanitize.py

bench: $(READY)
	mkdir -p build
	$(BIN)/python benchmarks/fit.py --shape 4x900x30x9000
	$(BIN)/python benchmarks/predict.py --shape 4x900x30x9000
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/growth.py --figure build/growth.svg
	$(BIN)/python benchmarks/instructions.py --shape 4x900x30x9000
	$(BIN)/python benchmarks/methods.py

bench-save: $(READY)
	$(BIN)/python benchmarks/methods.py --save

figures: $(READY)
	$(BIN)/python scripts/figures.py

# The wheel is built from the sdist, which proves that one complete.
wheels: $(READY)
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python scripts/try_install.py dist/*.whl native

test-image: $(READY)
	$(BIN)/python scripts/try_image.py

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Also run again when what the install depends on has changed.
$(READY): pyproject.toml setup.py $(wildcard native/* native/text/*)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "funnelling needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q src/funnelling
	touch $(READY)

# What some examples compare with: they leave out what cannot be installed.
$(RIVALS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,rivals]' || echo "Examples will not compare with their rivals." >&2
	touch $(RIVALS)

clean:
	rm -rf .venv build dist quickstart src/*.egg-info src/funnelling/svm/_native*.so src/funnelling/text/_lemmas*.so
