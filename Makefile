# Needs make and Python 3.11 or newer with its venv module; everything else goes into $(VENV).

PYTHON ?= python3
MAX_PAGES ?= 1000
FUZZ_SECONDS ?= 60
# Empty: another one each time.
FUZZ_SEED ?=
HOSTILE_SECONDS ?= 300
CUTS ?= 500
SEEDS ?=
# The crawl's directory.
DIR ?= $(if $(SEEDS),web-crawl,demo-crawl)

# Each Python has an environment of its own, so that changing between them installs nothing again.
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Where Python is told to write no bytecode (PYTHONDONTWRITEBYTECODE), each process would compile anew.
COMPILE := $(BIN)/python -m compileall -q pycrawl
INSTALLED := $(VENV)/installed
INSTALLED_DEV := $(VENV)/installed-dev
TOOLS := $(VENV)-tools
INSTALLED_TOOLS := $(TOOLS)/installed
NATIVE := $(wildcard pycrawl/native/*.c pycrawl/native/*.h)

.DEFAULT_GOAL := help
.PHONY: help crawl test test-slow test-tools fuzz fuzz-native hostile power-cuts lint man wheel bench bench-all bench-profile check-manuals clean

help:
	@echo 'make crawl                    crawl a demo web on this machine, into demo-crawl/ (about 20 seconds)'
	@echo 'make crawl SEEDS="https://…"  crawl from these URLs, politely, into web-crawl/; MAX_PAGES=1000, DIR=web-crawl'
	@echo 'make test                     run the tests; make test-slow: the soak tests'
	@echo 'make test-tools               what other programs make of the exports: pywb, PyTerrier …, in an environment of their own'
	@echo 'make fuzz                     look for bytes that break a parser; FUZZ_SECONDS=60, over all targets (docs/hostile.md)'
	@echo 'make fuzz-native              the same for the compiled module under sanitizers'
	@echo 'make hostile                  crawl a hostile web beside honest hosts; HOSTILE_SECONDS=300'
	@echo 'make power-cuts               cut the power of recorded crawls; CUTS=500 (docs/durability.md)'
	@echo 'make lint                     ruff, mypy, import rules'
	@echo 'make man                      write man/ and pycrawl.toml.example anew from the commands and the settings'
	@echo 'make wheel                    build dist/: a wheel with the compiled module, and the source archive'
	@echo 'make bench                    compare with Scrapy and wget2; needs nginx and wget2 (docs/performance.md)'
	@echo 'make bench-all                run all other benchmarks; make bench-profile: where the CPU time goes'
	@echo 'make check-manuals            crawl seven of Debian'\''s manuals whole, and compare with a search over their files'
	@echo 'make clean                    remove everything that was made, crawls aside'
	@echo 'PYTHON=python3.12             with any of these: use that Python'

crawl: $(INSTALLED)
ifeq ($(strip $(SEEDS)),)
	@$(BIN)/pycrawl demo $(DIR)
else
	@if [ -e $(DIR)/pycrawl.toml ]; then \
		$(BIN)/pycrawl add -C $(DIR) $(foreach seed,$(SEEDS),'$(seed)'); \
	else \
		$(BIN)/pycrawl init $(DIR) $(foreach seed,$(SEEDS),--seed '$(seed)'); \
	fi
	@$(BIN)/pycrawl crawl -C $(DIR) --max-pages $(MAX_PAGES)
	@echo 'Try next:'
	@echo '  $(BIN)/pycrawl stats -C $(DIR) --hosts'
	@echo '  $(BIN)/pycrawl why -C $(DIR) $(firstword $(SEEDS))'
	@echo '  zcat $(DIR)/docs/WTX001/B01.gz | less'
	@echo '  $(BIN)/pycrawl crawl -C $(DIR)    (goes on)'
endif

# Three at once, also on two cores: most of the time is spent waiting for servers, pauses and disks.
test: $(INSTALLED_DEV)
	@$(COMPILE)
	$(BIN)/pytest -n 3 --dist worksteal

test-slow: $(INSTALLED_DEV)
	@$(COMPILE)
	$(BIN)/pytest -m slow --timeout 3600

test-tools: $(INSTALLED_TOOLS)
	CI=true $(TOOLS)/bin/pytest -rs -m 'slow or not slow' tests/collection/test_exports.py tests/collection/test_other_tools.py tests/collection/test_replay.py

# Guided by coverage where atheris can be had for this Python, which is not everywhere; by chance elsewhere.
fuzz: $(INSTALLED_DEV)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(PIP) --only-binary :all: '.[fuzz]' || true
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

hostile: $(INSTALLED_DEV)
	@$(COMPILE)
	$(BIN)/python bench/hostile.py --seconds $(HOSTILE_SECONDS)

power-cuts: $(INSTALLED_DEV)
	@$(COMPILE)
	$(BIN)/python -m tests.power --cuts $(CUTS)

fuzz-native: $(INSTALLED_DEV)
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -m slow -o timeout=0 tests/native -k sanitizers

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

man: $(INSTALLED)
	$(BIN)/python -m pycrawl.cli.manpages man
	$(BIN)/python -c 'from pycrawl.config import example; print(example(), end="")' > pycrawl.toml.example

# The wheel is built from the unpacked source archive, so that it holds nothing that lies about in the checkout.
wheel: $(INSTALLED_DEV)
	rm -rf dist
	PYCRAWL_NATIVE=1 $(BIN)/python -m build --no-isolation --outdir dist

# BENCH="--web synthetic --runs 1", for example.
bench: $(INSTALLED_DEV)
	@$(COMPILE)
	@$(BIN)/python bench/compare.py $(BENCH)

bench-all: $(INSTALLED_DEV)
	@$(COMPILE)
	@for script in $$(grep -l __main__ bench/*.py | grep -v -e compare -e coverage -e hostile -e profiling -e scrapy_spider); do \
		echo "== $$script"; $(BIN)/python $$script || exit 1; done

bench-profile: $(INSTALLED_DEV)
	@$(COMPILE)
	@$(BIN)/python bench/profiling.py $(BENCH)

# Needs nginx, apt-get and about a minute. MANUALS="git-doc sqlite3-doc", for example.
check-manuals: $(INSTALLED_DEV)
	@$(COMPILE)
	@$(BIN)/python bench/coverage.py $(MANUALS)

clean:
	rm -rf .venv .venv-* .fuzz build dist pycrawl/native/_compiled.*so *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find pycrawl tests bench -name __pycache__ -prune -exec rm -rf {} +

# Installed again when setup.py or what is compiled has changed.

$(INSTALLED): setup.py $(NATIVE) | $(BIN)/python
	@echo "Installing pycrawl into $(VENV) …"
	@$(PIP) --editable '.[documents,languages]'
	@$(COMPILE)
	@touch $@

$(INSTALLED_DEV): setup.py $(NATIVE) | $(BIN)/python
	@echo "Installing pycrawl and the tools for its development into $(VENV) …"
	@$(PIP) --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(INSTALLED)

$(INSTALLED_TOOLS): setup.py $(NATIVE) | $(INSTALLED_DEV)
	@echo "Installing pycrawl and the programs that read its exports into $(TOOLS) …"
	@$(PYTHON) -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,tools]'
	@touch $@ $(INSTALLED_DEV) $(INSTALLED)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "pycrawl needs Python 3.11 or newer, and $(PYTHON) is none. Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
