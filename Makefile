# All targets set up what they need first. See `make help`.
# PYTHON=/path/to/python3.12 chooses the Python; ARGS=... goes to pytest, bench or lock.

PYTHON ?= python3
ARGS ?=
SETUP := $(PYTHON) scripts/bootstrap.py
VENV := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run fleet test soak check bench migrate lock clean

help:
	@echo 'make run      set up, then serve on http://127.0.0.1:8000 (PORT, HOST)'
	@echo 'make fleet    Postgres, Redis and WORKERS=2 workers, on ports 8000, 8001, ...'
	@echo 'make test     set up, then run every test, browser included'
	@echo 'make soak     chaos over a fleet for MINUTES=5; seeds are printed'
	@echo 'make check    format, lint, types, import contracts, lengths, locks, page'
	@echo 'make bench    the benchmarks; a table here and bench/results.json'
	@echo 'make migrate  bring the database of DATABASE_URL, or the embedded one, up to date'
	@echo 'make lock     compile requirements/*.in anew (ARGS=--upgrade for newer versions)'
	@echo 'make clean    remove what set-up and builds made; the data in .data/ stays'

run:
	@$(SETUP) run -- $(VENV)/python -m app serve

fleet:
	@$(SETUP) fleet -- $(VENV)/python -m app fleet

soak:
	@$(SETUP) soak -- $(VENV)/python -m tests.soak

test:
	@$(SETUP) test -- $(VENV)/python -m pytest $(ARGS)
	@$(SETUP) test -- npm --prefix frontend test

check:
	@$(SETUP) check
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/basedpyright
	$(VENV)/lint-imports
	$(VENV)/python scripts/check_lengths.py
	$(VENV)/python scripts/check_locks.py
	$(VENV)/python scripts/check_compose.py
	@$(SETUP) check -- npm --prefix frontend run check

bench:
	@$(SETUP) bench -- $(VENV)/python -m bench $(ARGS)

migrate:
	@$(SETUP) migrate -- $(VENV)/python -m app migrate

lock:
	@$(SETUP) lock $(ARGS)

clean:
	rm -rf .venv .tools frontend/node_modules frontend/dist tests/artifacts bench/results.json
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
