# Every common task. `make help` lists them.

JOBS ?= $(shell nproc)
# More options for CMake: make build CMAKE_FLAGS=-DMONET_WERROR=ON
CMAKE_FLAGS ?=
# Seconds that all fuzz targets share.
FUZZ_SECONDS ?= 60

# Where `make install` puts things.
PREFIX ?= /usr/local

PYTHON := .venv/bin/python
# Failures, skipped tests and the closing lines; not a line for every test that passed.
CTEST = ctest -j $(JOBS) --output-on-failure --test-dir
CTEST_FILTER = grep -vE '^ +Start +[0-9]+: | +Passed +[0-9.]+ sec$$|^Internal ctest|^$$'

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

FIGURES := figure-8 figure-9 figure-search figure-10 figure-11 figure-12 figure-sweep figure-remat
# The program that figures call.
MONET ?= build/monet

.PHONY: help build install demo docs python test bench bench-cluster figures $(FIGURES) format lint fuzz asan tsan coverage clean

help: ## list the tasks
	@grep -hE '^[a-z -]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z -]+):.*## (.*)/  make \1\t\2/' | expand -t 22

build: ## build the program: build/monet
	@scripts/setup.sh build
	@cmake --preset release $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build --target monet -j $(JOBS)

install: build ## install program, manual, completion, library and headers into PREFIX
	@cmake --install build --prefix $(PREFIX)

demo: build ## build, then a training step of ResNet-18 on a machine, in time, and its report
	@echo
	@echo '$$ build/monet train resnet18 --batch 8'
	@build/monet train resnet18 --batch 8
	@echo
	@echo 'This is the training step of ResNet-18, one of the built-in networks, with Adam: nodes, multiply-accumulates and'
	@echo 'other operations of the forward part, the backward part and the optimizer, and the memory that the step needs.'
	@echo
	@echo '$$ build/monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu -o out/demo'
	@build/monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu -o out/demo
	@echo
	@echo 'And this is a step of a small ResNet-18 on a machine of 16 cores, in time. out/demo has all of it: result.json,'
	@echo 'operators.csv, lifetimes.csv, plan.yaml, trace.json for ui.perfetto.dev, and the report. Open it in a browser:'
	@echo
	@echo "  $(CURDIR)/out/demo/report.html"
	@echo
	@echo 'Next: build/monet hardware list, build/monet evaluate --help, build/monet map --help,'
	@echo 'build/monet inspect resnet18 --layers, build/monet validate, or'
	@echo 'build/monet train YOUR_MODEL.onnx -o step.onnx; the manual is docs/manual.md.'

docs: $(if $(filter build/monet,$(MONET)),build) .venv-docs/requirements.stamp ## the documentation as a site: build-docs/html/index.html
	@.venv-docs/bin/python docs/site/stage.py build-docs/source $(MONET)
	@.venv-docs/bin/sphinx-build -q -W --keep-going -E -b html -c docs build-docs/source build-docs/html
	@echo "docs: build-docs/html/index.html"

.venv-docs/requirements.stamp: docs/requirements.txt
	@python3 -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r $<
	@cp $< $@

# What the Python package is made of. Compiled as the program is, so that the compiler cache has all of the library.
PYTHON_SOURCES = $(wildcard CMakeLists.txt cmake data/hardware include presets pyproject.toml python recipes spaces src web/src web/package-lock.json)

python: ## build and install the Python package into .venv
	@scripts/setup.sh test
	@if [ ! -e .venv/monet.stamp ] || [ -n "$$(find $(PYTHON_SOURCES) -newer .venv/monet.stamp -print -quit)" ]; then \
	  echo "python: installing the package monet into .venv"; \
	  touch .venv/monet.stamp.new; \
	  CXX=$${CXX:-c++} CMAKE_ARGS="$(CMAKE_FLAGS)" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PYTHON) -m pip install --quiet \
	    --disable-pip-version-check --no-build-isolation --no-deps --no-index .; \
	  mv .venv/monet.stamp.new .venv/monet.stamp; \
	fi

test: ## build everything and run all tests
	@scripts/setup.sh test
	@cmake --preset release $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build -j $(JOBS)
	@$(CTEST) build | $(CTEST_FILTER)
	@$(MAKE) --no-print-directory python
	@$(PYTHON) -m pytest tests -q

bench: ## build and run the benchmarks
	@scripts/setup.sh build
	@cmake --preset bench $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build-bench --target monet_bench -j $(JOBS)
	@build-bench/monet_bench --benchmark_min_time=0.2
	@scripts/setup.sh test
	@$(PYTHON) bench/against_onnx.py build-bench/monet_bench

bench-cluster: build python ## designs a second on the workers of a cluster against threads
	@$(PYTHON) bench/cluster_overhead.py

figures: ## the published figures again, as tables and pictures in experiments/results; takes long
	@SECONDS=0; for figure in $(FIGURES); do $(MAKE) --no-print-directory $$figure; done; echo "figures: $$SECONDS s"

$(FIGURES): $(if $(filter build/monet,$(MONET)),build) .venv-figures/requirements.stamp
	@MONET=$(MONET) .venv-figures/bin/python experiments/$(subst -,_,$@).py

.venv-figures/requirements.stamp: experiments/requirements.txt
	@python3 -m venv .venv-figures
	@.venv-figures/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r $<
	@cp $< $@

format: ## lay out all C++ files
	@scripts/setup.sh ci
	@scripts/check_format.sh --fix

lint: ## check layout, layering, documents and code (clang-tidy)
	@scripts/setup.sh ci
	@scripts/check_format.sh
	@$(PYTHON) scripts/check_layering.py
	@$(PYTHON) scripts/check_docs.py
	@cmake --preset asan $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@scripts/check_tidy.sh build-asan $(JOBS)

fuzz: ## feed malformed files to the readers for FUZZ_SECONDS
	@scripts/setup.sh fuzz
	@cmake --preset fuzz $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build-fuzz --target fuzz_targets -j $(JOBS)
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

asan tsan: ## unit tests under sanitizers: address and undefined behaviour; threads
	@scripts/setup.sh fuzz
	@cmake --preset $@ $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build-$@ -j $(JOBS)
	@$(CTEST) build-$@ | $(CTEST_FILTER)

coverage: ## unit tests with a table of what they reach
	@scripts/setup.sh fuzz
	@cmake --preset coverage $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build-coverage --target monet_tests -j $(JOBS)
	@LLVM_PROFILE_FILE=build-coverage/tests.profraw build-coverage/monet_tests --gtest_brief=1
	@llvm-profdata-19 merge -sparse build-coverage/tests.profraw -o build-coverage/tests.profdata
	@llvm-cov-19 report build-coverage/monet_tests -instr-profile=build-coverage/tests.profdata \
	  -show-branch-summary=false -show-region-summary=false $(CURDIR)/src $(CURDIR)/include

clean: ## remove all that was built; .venv stays
	rm -rf build build-*/
