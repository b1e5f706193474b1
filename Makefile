# The two commands: `make demo` and `make test`. Everything they need is set up on the way.
PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD = build$(if $(filter-out release,$(PRESET)),/$(PRESET))

.PHONY: all demo test test-core test-intel bench format lint install clean distclean setup help
all: $(BUILD)/build.ninja  ## build everything into build/
	@scripts/build $(PRESET) $(JOBS)

setup:  ## install missing packages, fetch the Level Zero headers
	@scripts/setup

$(BUILD)/build.ninja: CMakePresets.json | setup
	@cmake --preset $(PRESET)

demo: setup $(BUILD)/build.ninja  ## run the examples on the software driver, both ways in
	@scripts/build $(PRESET) $(JOBS) demo_parts
	@scripts/demo $(BUILD)

test: setup all  ## run all tests (PRESET=asan or tsan for the sanitizers)
	@ctest --preset $(PRESET) -j $(JOBS)

test-core: setup $(BUILD)/build.ninja  ## run the tests of driver, recorder, trace and replay (PRESET=asan or tsan)
	@scripts/build $(PRESET) $(JOBS) core_tests
	@ctest --preset $(PRESET) -j $(JOBS) -L core

test-intel: setup all  ## run the programs on Intel's driver, without a GPU (docs/testing.md)
	@scripts/test_intel --build $(BUILD) $(if $(ONLY),--only '$(ONLY)') $(if $(DEVICES),--devices $(DEVICES))

bench:  ## measure, as ratios
	@scripts/setup --bench
	@cmake --preset $(PRESET) -DZEVENT_BENCH=ON
	@scripts/build $(PRESET) $(JOBS)
	@scripts/bench $(BUILD)

format:  ## format all sources in place
	@scripts/setup --lint
	@git ls-files '*.cpp' '*.hpp' '*.h' '*.c' | xargs clang-format-14 -i

lint: all  ## clang-tidy and the formatting check, of what changed (SINCE=COMMIT: since then)
	@scripts/setup --lint
	@scripts/lint $(BUILD) --jobs $(JOBS) $(if $(SINCE),--since $(SINCE))

install: all  ## install to PREFIX (/usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:  ## remove what was built, keep the fetched headers
	@find build -mindepth 1 -maxdepth 1 -not -name deps -exec rm -rf {} + 2>/dev/null || true

distclean:  ## remove everything that is not in git
	@rm -rf build

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
