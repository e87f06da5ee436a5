# Everything a developer or an operator does with a clone. `make` alone lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# One thread per process: the embedder's own threads get in each other's way on small machines.
export OMP_NUM_THREADS ?= 1

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.dev ## install everything for work on the code into .venv

.PHONY: demo
demo: $(VENV)/.local ## set up, ingest content/, ask four questions and stop again
	$(BIN)/lastro demo

.PHONY: up
up: $(VENV)/.local ## start an instance in the foreground; Ctrl-C stops it
	$(BIN)/lastro up

.PHONY: down
down: $(VENV)/.local ## stop the instance
	$(BIN)/lastro down

.PHONY: ingest
ingest: $(VENV)/.local ## bring the running instance up to date with the content
	$(BIN)/lastro ingest

.PHONY: ingest-skills
ingest-skills: $(VENV)/.local ## the same for skills alone
	$(BIN)/lastro ingest --track skill

.PHONY: ingest-docs
ingest-docs: $(VENV)/.local ## the same for documents alone
	$(BIN)/lastro ingest --track document

.PHONY: reindex
reindex: $(VENV)/.local ## ingest all of the content again, unchanged files too
	$(BIN)/lastro reindex

.PHONY: eval
eval: $(VENV)/.local ## measure the answers to content/questions.jsonl
	$(BIN)/lastro eval content/questions.jsonl

.PHONY: bench
bench: $(VENV)/.dev ## measure what orchestration and the API cost
	$(BIN)/python -m benchmarks

.PHONY: bench-ingest
bench-ingest: $(VENV)/.dev ## measure ingestion against the embedder alone, and the embedder
	$(BIN)/python -m benchmarks.embedders
	$(BIN)/python -m benchmarks.ingest

.PHONY: test
test: $(VENV)/.dev ## set up and run every test but the images'
	$(BIN)/python -m pytest

.PHONY: test-images
test-images: $(VENV)/.dev ## build both images with buildah and answer a question with them
	$(BIN)/python -m pytest tests/images

.PHONY: test-torch
test-torch: ## test the models of the extra gpu, in an environment of their own (1.5 GB)
	scripts/test-torch.sh

.PHONY: lint
lint: $(VENV)/.dev ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: lock
lock: $(VENV)/.dev ## choose the newest versions anew and write requirements.lock
	$(PIP) install uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
		--extra local --extra ops --extra documents --extra cpu --extra gpu --extra dev --no-annotate --no-emit-index-url \
		--custom-compile-command 'make lock' --output-file requirements.lock pyproject.toml

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The versions stand in requirements.lock; the stamps keep a second run from installing again.
$(VENV)/.local: pyproject.toml requirements.lock | $(BIN)/python
	# What is not imported needs no bytecode: it would be a sixth of the environment.
	$(PIP) install --no-compile --constraint requirements.lock --editable '.[local]'
	@touch $@

$(VENV)/.dev: pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) install --constraint requirements.lock --editable '.[local,ops,documents,cpu,dev]'
	@touch $@ $(VENV)/.local
