# Everything runs in a virtual environment in this checkout; each target sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types check-tests thorough bench clean

demo: $(VENV)/ready  ## check Kafka's replication protocol and show what breaks it
	$(BIN)/clew check examples/kafka.ded; test $$? -eq 1

test: lint types check-tests  ## everything that must pass before a change lands

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

check-tests: $(VENV)/ready
	$(BIN)/pytest -n 2

thorough: $(VENV)/ready  ## the property tests on many thousands of generated programs (an hour or so)
	$(BIN)/pytest -n 2 --thorough tests/search tests/engine

bench: $(VENV)/ready  ## Figures 11, 12 and 13 with our numbers beside the published ones
	$(BIN)/python -m benchmarks

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis benchmarks/out
