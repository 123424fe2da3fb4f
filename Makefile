# Set-up and the runs that people repeat; each target makes .venv when it is missing.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

.PHONY: quickstart test lint bench reproduce clean

$(VENV)/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

quickstart: $(VENV)/ready
	$(BIN)/paraloom quickstart runs/quickstart

test: $(VENV)/ready
	$(BIN)/pytest

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Long: needs PARALOOM_DATA and hours.
bench: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/encoders.py
	$(BIN)/python benchmarks/memory.py

reproduce: $(VENV)/ready
	$(BIN)/python examples/reproduce.py

clean:
	rm -rf $(VENV) runs build
