# make demo    the main job on the sample data       make test   all tests
# make check   lint, types, layers and tests         make bench  the benchmarks
# make bench-scale   a large evaluation: SYSTEMS=1000 DOCUMENTS=10000 (ten million rows)
# make soak    what the tests do a few times, many times: kills, torn writes, damage; under 20 minutes
# make pictures  the pictures of the documentation
# make fuzz    statements and files with mistakes in them, many thousands; the parser under atheris
# Each target sets up .venv as far as it needs, once; `make clean` starts over.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench bench-scale fuzz soak pictures clean

demo: .venv/installed
	@$(BIN)/evalhouse demo

test: .venv/installed-test
	$(BIN)/python -m pytest

check: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

bench: .venv/installed-test
	$(BIN)/python benchmarks/command_line.py
	$(BIN)/python benchmarks/significance.py

bench-scale: .venv/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check polars
	$(BIN)/python benchmarks/scale.py --systems $(or $(SYSTEMS),1000) --documents $(or $(DOCUMENTS),10000)

fuzz: .venv/installed-test
	EVALHOUSE_EXAMPLES=20000 $(BIN)/python -m pytest tests/test_fuzz_queries.py tests/test_fuzz_readers.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	mkdir -p .venv/fuzz
	$(BIN)/python tests/fuzz_parser.py .venv/fuzz tests/cases -max_total_time=300 -max_len=400

soak: .venv/installed-test
	timeout 1200 $(BIN)/python -m pytest -m soak --durations=10

pictures: .venv/installed-test
	cd docs/pictures && ../../$(BIN)/evalhouse run pictures.eval --force --quiet > /dev/null

clean:
	rm -rf .venv

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@

.venv/installed-dev: .venv/installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@
