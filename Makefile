# make demo         the main job on the sample data
# make test         the fast tests; what one runs before each commit
# make test-slow    the other tests: Spark, the browser, crashes, mistakes, the terminal, the documentation, and what
#                   computes for long
# make test-all     the fast tests, then the slow ones
# make lint         style, types and layers, and whether the tables of the documentation are those of the program
# make generate     the tables and lists of the documentation that follow from the program
# make built        the modules that are built from the program and not kept; the other targets do so too
# make check        lint, docs and all tests; .ci/run does the same, and test-oldest, side by side
# make test-oldest  the fast tests on the lowest versions that pyproject.toml allows, with Python 3.11
# make test-versions the fast tests on the lowest versions, then on the newest that there are
# make test-pythons the fast tests on every Python from 3.11 on that is here
# make bench        the benchmarks
# make bench-scale  a large evaluation: SYSTEMS=1000 DOCUMENTS=10000 (ten million rows)
# make measured     what benchmarks/kept has, printed again; one of them: make measured KEPT=benchmarks/kept/skew.txt
# make soak         what the tests do a few times, many times: kills, faults, signals, damage; under 30 minutes. It prints
#                   the table of docs/reliability.md; make soak ACCEPT=--accept puts it there
# make fuzz         more examples of each property; statements and files with mistakes in them, many thousands; the
#                   parser under atheris
# make pictures     the pictures of the documentation, for light pages and for dark ones
# make docs         the site of the documentation in build/docs, and the manual page in build/man
# make release      the source distribution and the wheel in build/release, built twice, checked and tried
# Each target sets up .venv as far as it needs, once; `make clean` starts over. A few tests: make test TESTS=tests/shell

PYTHON ?= python3
BIN := .venv/bin
TESTS ?= tests
PIP := -m pip install --quiet --disable-pip-version-check
PARALLEL := -n logical --dist loadgroup
# The fast tests are many, and one after another where they stand together; who is done takes over from the others.
PARALLEL_FAST := -n logical --dist worksteal
# The tests start hundreds of processes, which would compile every module again.
export PYTHONDONTWRITEBYTECODE :=
SLOW_MARKS := (spark or browser or crash or fuzz or terminal or docs or long)
# Fewer examples of each property, too; fuzz takes as many as each test says.
FAST := -m "not $(SLOW_MARKS) and not soak" --hypothesis-profile=fast
SLOW := -m "$(SLOW_MARKS) and not soak"

# Built, not kept: a method and a function of Python for each statement.
BUILT := $(addprefix warehouse/python/,methods.py functions.py)
BUILT_FROM := $(wildcard grammar/*.py grammar/*/*.py warehouse/statements/*.py) warehouse/plans/path.py \
  $(addprefix warehouse/python/,generation.py text.py)

# The tables of the documentation: docs/reference_tables.py makes them, and cog puts them into the pages.
COG := $(BIN)/cog -U -I docs -p "import reference_tables as tables" --verbosity=1
PAGES := $(wildcard docs/*.md docs/language/*.md)

# What benchmarks printed, for the pages. The first line of each is the command.
KEPT := $(wildcard benchmarks/kept/*.txt)

.PHONY: demo built generate test test-slow test-all lint check test-oldest test-versions test-pythons bench bench-scale measured fuzz soak pictures docs release clean

demo: .venv/installed
	@$(BIN)/evalhouse demo

built: $(BUILT)

generate: .venv/installed-dev built
	$(COG) -r $(PAGES)

test: .venv/installed-test built
	$(BIN)/python -m pytest $(PARALLEL_FAST) $(FAST) $(TESTS)

test-slow: .venv/installed-test built
	$(BIN)/python -m pytest $(PARALLEL) $(SLOW) $(TESTS)

test-all: test test-slow

lint: .venv/installed-dev built
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(COG) --check --diff --check-fail-msg "make generate writes the tables again" $(PAGES)

check: lint docs
	@$(MAKE) --no-print-directory test-all

test-oldest: .venv-oldest/installed built
	.venv-oldest/bin/python -m pytest $(PARALLEL_FAST) $(FAST) $(TESTS)

test-versions: test-oldest
	test -x .venv-newest/bin/python || $(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python $(PIP) --upgrade --upgrade-strategy eager --editable ".[test]"
	.venv-newest/bin/python -m pytest $(PARALLEL_FAST) $(FAST) $(TESTS)

test-pythons: built
	@for python in $$(.ci/pythons); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	  echo "Python $$version" && \
	  $(MAKE) --no-print-directory .venv-$$version/installed INTERPRETER=$$python && \
	  .venv-$$version/bin/python -m pytest $(PARALLEL_FAST) $(FAST) $(TESTS) || exit 1; \
	done

bench: .venv/installed-test built
	$(BIN)/python benchmarks/command_line.py
	$(BIN)/python benchmarks/significance.py
	$(BIN)/python benchmarks/floors.py

bench-scale: .venv/installed-test
	$(BIN)/python $(PIP) polars
	$(BIN)/python benchmarks/scale.py --systems $(or $(SYSTEMS),1000) --documents $(or $(DOCUMENTS),10000)

measured: .venv/installed-test built
	for kept in $(KEPT); do \
	  command=$$(sed -n '1s/^\$$ python //p' $$kept) && \
	  { head -n 1 $$kept && $(BIN)/python $$command; } > $$kept.new && mv $$kept.new $$kept || exit 1; \
	done

fuzz: .venv/installed-test built
	$(BIN)/python -m pytest $(PARALLEL) -m "hypothesis and not soak"
	EVALHOUSE_EXAMPLES=20000 $(BIN)/python -m pytest $(PARALLEL) tests/test_fuzz_queries.py tests/test_fuzz_readers.py
	$(BIN)/python $(PIP) atheris
	mkdir -p .venv/fuzz
	$(BIN)/python tests/fuzz_parser.py .venv/fuzz tests/cases -max_total_time=300 -max_len=400

soak: .venv/installed-test built
	timeout 1800 $(BIN)/python -m pytest --soak -o faulthandler_timeout=0 -n 4 --dist worksteal --durations=20 $(ACCEPT) $(TESTS)

pictures: .venv/installed-test built
	$(BIN)/python docs/drawings.py
	$(BIN)/python docs/pictures/schema.py

docs: .venv/installed-dev built
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -d build/doctrees -b html docs build/docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning -d build/doctrees -b man docs build/man

# What is built twice is the same, byte for byte, and works where there is nothing else.
release: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
release: .venv/installed-dev
	$(BIN)/python $(PIP) build twine
	rm -rf build/release build/again build/tried
	$(BIN)/python -m build --outdir build/release . > /dev/null
	$(BIN)/python -m build --outdir build/again . > /dev/null
	diff -r build/release build/again
	$(BIN)/python -m twine check --strict build/release/*
	for built in build/release/*; do \
	  rm -rf build/tried && $(PYTHON) -m venv build/tried && build/tried/bin/python $(PIP) $$built && \
	  build/tried/bin/evalhouse demo > /dev/null || exit 1; done
	@ls build/release/*

clean:
	rm -rf .venv .venv-* build $(BUILT)

$(BUILT): $(BUILT_FROM) | .venv/installed
	$(BIN)/python -m evalhouse.warehouse.python.generation

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --editable .
	@touch $@

.venv/installed-uv: .venv/installed
	$(BIN)/python $(PIP) uv
	@touch $@

# What tests compare with is some two gigabytes; uv links what it has installed before.
.venv/installed-test: .venv/installed-uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable ".[test]"
	@touch $@

.venv/installed-dev: .venv/installed-uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable ".[dev]"
	@touch $@ .venv/installed-test

# pip has no way to ask for the lowest versions; uv has.
.venv-oldest/installed: pyproject.toml
	rm -rf .venv-oldest
	$(or $(shell .ci/pythons 3.11),$(error Python 3.11 is not here)) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP) uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable ".[test]"
	@touch $@

.venv-3.%/installed: pyproject.toml
	test -x .venv-3.$*/bin/python || $(INTERPRETER) -m venv .venv-3.$*
	.venv-3.$*/bin/python $(PIP) --editable ".[test]"
	@touch $@
