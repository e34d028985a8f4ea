# What a user runs. Everything installs into .venv/ of this checkout; `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What is linted: never the code of others that the pages put into this folder.
CODE := $(wildcard *.py) evals examples harness locobench measure templates tests tools
DEMO := demo
DEMO_OWN := demo-own
# Base of the tasks' images; any Debian or Ubuntu that `docker image ls` shows does without a registry.
BASE_IMAGE ?= ubuntu:24.04
MINUTES ?= 30
KILLS ?= 40
# Idle workers take tests from busy ones; tests/conftest.py sets their number.
PARALLEL := -n auto --dist worksteal --quiet

.PHONY: help demo demo-own test quick coverage check docs lock format e2e validity claims-mutants bench bench-images power-table pilot-selection picture fuzz trust clean

help:  ## this list
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed  ## the three scripts on the bundled sample, then oracle and empty answer of every task
	@$(BIN)/python extract_dataset.py --data_dir data/sample --output $(DEMO)/locobench_dataset.jsonl
	@$(BIN)/python select_tasks.py --dataset_path $(DEMO)/locobench_dataset.jsonl --output $(DEMO)/selected_tasks.json \
	    --min_context_length 5000 --min_files_count 5 --top_n 1000 --quiet
	@$(BIN)/python run_adapter.py --data_dir data/sample --dataset_path $(DEMO)/locobench_dataset.jsonl \
	    --selected_tasks $(DEMO)/selected_tasks.json --output_dir $(DEMO)/tasks --base_image $(BASE_IMAGE)
	@$(BIN)/python smoke_test.py --local $(DEMO)/tasks

demo-own: $(VENV)/installed  ## questions with exact answers from this repository, then oracle, empty answer and grep's
	@$(BIN)/python derive_scenarios.py . --output_dir $(DEMO_OWN)/data --history 3
	@$(BIN)/python extract_dataset.py --data_dir $(DEMO_OWN)/data --output $(DEMO_OWN)/locobench_dataset.jsonl
	@$(BIN)/python select_tasks.py --dataset_path $(DEMO_OWN)/locobench_dataset.jsonl \
	    --output $(DEMO_OWN)/selected_tasks.json --top_n 40 --quiet
	@$(BIN)/python run_adapter.py --data_dir $(DEMO_OWN)/data --dataset_path $(DEMO_OWN)/locobench_dataset.jsonl \
	    --selected_tasks $(DEMO_OWN)/selected_tasks.json --output_dir $(DEMO_OWN)/tasks --base_image $(BASE_IMAGE)
	@$(BIN)/python smoke_test.py --local $(DEMO_OWN)/tasks
	@$(BIN)/python -m tools.grep_answers $(DEMO_OWN)/tasks

test: $(VENV)/installed-dev  ## all tests that need neither Docker nor the claude CLI
	$(BIN)/python -m pytest $(PARALLEL)

quick: $(VENV)/installed-dev  ## the same without the slow ones
	$(BIN)/python -m pytest $(PARALLEL) -m 'not e2e and not slow'

coverage: $(VENV)/installed-dev  ## which lines and branches the tests reach, those run by processes of their own too
	@rm -rf .cache/coverage && mkdir -p .cache/coverage
	$(BIN)/python -m coverage run -m pytest
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report

check: $(VENV)/installed-dev  ## linter, formatter, types, directions of imports, pages that come from the code
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.docs.generate --check

docs: $(VENV)/installed-dev  ## write CLI_REFERENCE.md, RESULTS.md and ANSWER_FORMATS.md in docs/ from the code
	$(BIN)/python -m tools.docs.generate

lock: $(VENV)/installed-dev  ## choose the newest versions of all libraries; rewrites constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --extra dev --no-annotate \
	    --no-header --no-emit-index-url --no-emit-find-links --output-file constraints.txt pyproject.toml

format: $(VENV)/installed-dev  ## let the formatter write
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

e2e: $(VENV)/installed-dev  ## the real Harbor, Docker and claude CLI; brings up an engine where there is none
	bash tests/e2e/run.sh

validity: $(VENV)/installed-dev  ## how well the verifier tells knowledge from pretence; rewrites the tables in docs/
	$(BIN)/python -m tools.bench.validity

claims-mutants: $(VENV)/installed-dev  ## change what the sample's claims name, line by line; names programs that do not notice (hours; PART of an id)
	$(BIN)/python -m tools.claims.mutants $(PART)

bench: $(VENV)/installed-dev  ## speed and memory, side by side with plain ways of doing the same
	$(BIN)/python -m tools.bench.pipeline
	$(BIN)/python -m tools.bench.derive
	$(BIN)/python -m tools.bench.harness
	$(BIN)/python -m tools.bench.bench_reports

bench-images: $(VENV)/installed-dev  ## one image with all toolchains against ten single ones
	$(BIN)/python -m tools.bench.images

power-table: $(VENV)/installed-dev  ## simulate the comparison's error rates; rewrites the table in docs/STATISTICS.md
	$(BIN)/python -m tools.bench.power_table
	$(BIN)/python -m tools.bench.verdict_table

pilot-selection: $(VENV)/installed-dev  ## simulate comparisons after a selection by a pilot; rewrites the table in docs/TASK_SELECTION_CRITERIA.md
	$(BIN)/python -m tools.bench.pilot_selection

picture: $(VENV)/installed-dev  ## docs/comparison.png: a comparison page of made-up data (needs Chromium)
	$(BIN)/python -m tools.bench.picture

fuzz: $(VENV)/installed-dev  ## search MINUTES (30) for data that breaks extraction or generation, and files that break a command
	$(BIN)/python -m tools.fuzz --minutes $(MINUTES)

trust: $(VENV)/installed-dev  ## KILLS (40) at random moments, attacks, floods, full disks, MINUTES (30) of odd input; rewrites docs/TRUST.md
	$(BIN)/python -m tools.bench.trust --kills $(KILLS) --minutes $(MINUTES)

clean:  ## remove what the targets above made
	rm -rf $(VENV) $(DEMO) $(DEMO_OWN) .cache build dist *.egg-info
