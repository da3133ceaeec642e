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

.PHONY: help build static wheel check-wheel install demo docs python tests test bench bench-cluster figures $(FIGURES) format lint tidy fuzz dev asan tsan threads \
  coverage campaign nightly clean

# What is tested or measured begins with nothing, and leaves nothing in the user's cache folder.
test bench bench-cluster campaign nightly threads asan tsan coverage: export MONET_NO_CACHE = 1

help: ## list the tasks
	@grep -hE '^[a-z -]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z -]+):.*## (.*)/  make \1\t\2/' | expand -t 22

# What one CMake of build/ is told: the program alone, unless the tests were asked for before.
CONFIGURE = cmake --preset release $(CMAKE_FLAGS) --log-level=WARNING
PROGRAM_ALONE = $(if $(wildcard build/CMakeCache.txt),,-DMONET_TESTS=OFF)

build: ## build the program: build/monet
	@scripts/setup.sh build
	@$(CONFIGURE) $(PROGRAM_ALONE) >/dev/null
	@cmake --build build --target monet -j $(JOBS)

static: ## a program that needs nothing but a Linux kernel: build/standalone/monet
	@scripts/setup.sh build
	@python3 scripts/standalone.py build-standalone --program
	@$(CONFIGURE) $(PROGRAM_ALONE) -DMONET_STANDALONE=$(CURDIR)/build-standalone >/dev/null
	@cmake --build build --target monet_standalone -j $(JOBS)
	@ls -lh build/standalone/monet

wheel: ## a wheel for any Linux with Python 3.9 or later, libraries, page and program inside: dist/
	@scripts/setup.sh build
	@python3 scripts/standalone.py build-standalone
	@$(CONFIGURE) $(PROGRAM_ALONE) -DMONET_STANDALONE=$(CURDIR)/build-standalone >/dev/null
	@cmake --build build --target monet_standalone monet_modules -j $(JOBS)
	@python3 scripts/make_wheel.py build dist

check-wheel: ## dist/*.whl in systems that have nothing else, oldest to newest; needs root and debootstrap
	@scripts/check_standalone_wheel.sh

install: build ## install program, manual, completion, library and headers into PREFIX
	@cmake --install build --prefix $(PREFIX)

demo: ## build, then a training step of ResNet-18 on a machine, in time, and its report
	@scripts/demo.sh announce $(JOBS)
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh run

docs: $(if $(filter build/monet,$(MONET)),build) .venv-docs/requirements.stamp ## the documentation as a site: build-docs/html/index.html
	@.venv-docs/bin/python docs/site/stage.py build-docs/source $(MONET)
	@.venv-docs/bin/sphinx-build -q -W --keep-going -E -b html -c docs build-docs/source build-docs/html
	@echo "docs: build-docs/html/index.html"

.venv-docs/requirements.stamp: docs/requirements.txt
	@python3 -m venv .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r $<
	@cp $< $@

# The Python module is built in build/ too, from the library that is there.
WITH_PYTHON = -DMONET_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) -Dnanobind_DIR=$$($(PYTHON) -m nanobind --cmake_dir)

python: ## build the Python package, where .venv finds it
	@scripts/setup.sh test
	@$(CONFIGURE) $(PROGRAM_ALONE) $(WITH_PYTHON) >/dev/null
	@cmake --build build --target _core -j $(JOBS)
	@rm -rf build/package && cmake --install build --prefix build/package --component package >/dev/null
	@echo $(CURDIR)/build/package > $$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/monet.pth

tests: ## build all tests
	@scripts/setup.sh test
	@$(CONFIGURE) -DMONET_TESTS=ON $(WITH_PYTHON) >/dev/null
	@cmake --build build -j $(JOBS)

test: tests python ## build everything and run all tests
	@$(CTEST) build | $(CTEST_FILTER)
	@$(PYTHON) -m pytest tests -q -n $(JOBS) --dist worksteal

bench: ## build and run the benchmarks
	@scripts/setup.sh test
	@$(CONFIGURE) -DMONET_BENCHMARKS=ON >/dev/null
	@cmake --build build --target monet_bench -j $(JOBS)
	@build/monet_bench --benchmark_min_time=0.2
	@$(PYTHON) bench/against_onnx.py build/monet_bench

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

lint: ## check layout, layering, headers, documents and code (clang-tidy)
	@scripts/setup.sh ci
	@scripts/check_format.sh
	@$(PYTHON) scripts/check_layering.py
	@$(PYTHON) scripts/check_headers.py
	@$(PYTHON) scripts/check_docs.py
	@$(MAKE) --no-print-directory tidy

tidy: ## clang-tidy over ROOMS, folders of src/; default all
	@scripts/setup.sh fuzz
	@cmake --preset tidy --log-level=WARNING >/dev/null
	@scripts/check_tidy.sh build-tidy $(JOBS) $(ROOMS)

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

threads: ## commands that use threads and threads of Python, under the thread sanitizer
	@scripts/setup.sh fuzz
	@scripts/setup.sh test
	@cmake --preset tsan $(CMAKE_FLAGS) $(WITH_PYTHON) --log-level=WARNING >/dev/null
	@cmake --build build-tsan --target monet _core -j $(JOBS)
	@scripts/threads.sh build-tsan

dev: ## debug build, each file by itself: finds what a file uses and does not include
	@scripts/setup.sh test
	@cmake --preset dev --log-level=WARNING >/dev/null
	@cmake --build build-dev -j $(JOBS)

coverage: ## unit tests with a table of what they reach
	@scripts/setup.sh fuzz
	@cmake --preset coverage $(CMAKE_FLAGS) --log-level=WARNING >/dev/null
	@cmake --build build-coverage --target monet_tests -j $(JOBS)
	@LLVM_PROFILE_FILE=build-coverage/tests.profraw build-coverage/monet_tests --gtest_brief=1
	@llvm-profdata-19 merge -sparse build-coverage/tests.profraw -o build-coverage/tests.profdata
	@llvm-cov-19 report build-coverage/monet_tests -instr-profile=build-coverage/tests.profdata \
	  -show-branch-summary=false -show-region-summary=false $(CURDIR)/src $(CURDIR)/include

# What takes too long for every change: everything under every tool. Logs and a summary in build-nightly/.
nightly: ## all tests under the sanitizers, each file by itself, clang-tidy on everything, an hour of fuzzing a reader
	@scripts/nightly.sh $(JOBS)

# Seconds that random networks, machines and options are tried for.
CAMPAIGN_SECONDS ?= 3600
campaign: tests python ## ask of random answers what must hold of all of them, for CAMPAIGN_SECONDS
	@MONET_CAMPAIGN=$(CAMPAIGN_SECONDS) $(PYTHON) -m pytest tests/campaign -q -s -n $(JOBS)

clean: ## remove all that was built; .venv stays
	rm -rf build build-*/ dist
