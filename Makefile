# Everything runs in a virtual environment in this checkout; each target sets up what it needs.
# PYTHON=python3.13 is another Python, with an environment of its own (.venv-3.13): what .venv has stays.

PYTHON ?= python3
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := $(if $(filter python3,$(PYTHON)),.venv,.venv-$(VERSION))
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo quick test lint types check-tests browser zookeeper thorough bench pictures example-pysyncobj example-asyncio clean

# check Kafka's replication protocol and show what breaks it (a counterexample is exit code 1)
demo: $(VENV)/installed
	@$(BIN)/clew check examples/kafka.ded; test $$? -eq 1
	@echo 'To go on:  . $(BIN)/activate'

# while editing: under a minute
quick: lint
	$(BIN)/pytest -n 2 -q --quick

# everything that must pass before a change lands; the types, on one core for a quarter of a minute, beside the tests
test: lint
	@$(MAKE) --no-print-directory --jobs 2 types check-tests

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

# compiled before: many tests start the command, which would compile itself each time where bytecode is not written
check-tests: $(VENV)/ready browser zookeeper
	$(BIN)/python -m compileall -q src
	$(BIN)/pytest -n 2

# the browser in which the report is tested: installed if that is allowed, and otherwise those tests are skipped
browser:
	@sh tests/browser/install.sh

# the ordering service with which coordination is tested; likewise
zookeeper:
	@sh tests/zookeeper/install.sh

# the property tests on many thousands of generated programs: an hour or so
thorough: $(VENV)/ready
	$(BIN)/pytest -n 2 --thorough tests/search tests/engine tests/explain tests/checker/survey tests/exploration tests/simulation tests/histories \
		tests/minimization tests/quality/test_examples.py tests/cli/test_node_names.py

# the figures and tables of the papers with our numbers beside the published ones
bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

# the pictures of the documentation, drawn again by the tool itself
pictures: $(VENV)/installed
	CLEW=$(BIN)/clew sh docs/pictures/make.sh

# what fuzzing finds in two releases of a Raft library from PyPI, each in an environment of its own: about two minutes
example-pysyncobj:
	@PYTHON=$(PYTHON) sh examples/pysyncobj/run.sh

# libraries on asyncio from PyPI, unmodified, in an environment of their own: half a minute
example-asyncio:
	@PYTHON=$(PYTHON) sh examples/asyncio/libraries/run.sh

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	@touch $@

$(VENV)/ready: $(VENV)/installed
	$(INSTALL) '.[dev,bench]'
	@touch $@

clean:
	rm -rf .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis benchmarks/out
