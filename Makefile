# The front door. Everything is built by CMakeLists.txt, into build/. Debian packages that are missing are named and
# then installed; `make SETUP=no ...` only names them.
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
SOAK_CHANGES ?= 1000000
SOAK_SEED ?= 1
KILLS ?= 10000
export LAB_FILES ?=
jobs := -j$(shell nproc)
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := build
.PHONY: build gpu redis postgres demo bench lab lab-full test check fuzz fuzz-report soak kills portability abi dist install clean \
	format help

build: ## install what is missing (SETUP=no: only name it), then build build/legosketch and the libraries
	@scripts/setup build
	@[ -e build/CMakeCache.txt ] || cmake -S . -B build -DLEGO_BUILD_TESTS=OFF --log-level=WARNING
	@cmake --build build $(jobs)

gpu: ## the same into build/gpu for an NVIDIA GPU: it trains there, and liblegosketch_cuda has sketches there (needs nvcc)
	@scripts/setup build
	@command -v nvcc >/dev/null || { echo 'make gpu: there is no nvcc in PATH; install the CUDA toolkit' >&2; exit 1; }
	@[ -e build/gpu/CMakeCache.txt ] || cmake -S . -B build/gpu -DLEGO_CUDA=ON -DLEGO_BUILD_TESTS=OFF --log-level=WARNING
	@cmake --build build/gpu $(jobs)

redis: ## the Redis module: install Redis and fetch redismodule.h if they are missing, then build build/legosketch.so
	@scripts/setup redis
	@[ ! -e build/CMakeCache.txt ] || cmake -S . -B build --log-level=WARNING # it looks for the header again
	@$(MAKE) build

postgres: build ## the PostgreSQL extension; `make -C bindings/postgres install` puts it into the server
	@scripts/setup postgres
	@$(MAKE) -s -C bindings/postgres

demo: build ## build, then sketch millions of items and compare with the truth
	@build/legosketch demo

bench: build ## build, then measure the speed of everything; build/bench --help has options
	@build/bench

lab: ## ten minutes of every experiment of the paper, then the report; LAB_FILES='...' for streams of your own
	@scripts/setup lab
	@$(MAKE) build
	@scripts/lab --quick

lab-full: ## the same with all points, seeds and items: hours
	@scripts/setup lab
	@$(MAKE) build
	@scripts/lab

test: ## every test: quick, long, command, installed package, Python, Redis, PostgreSQL, sanitizers, fuzz targets
	@scripts/setup test
	@scripts/setup browser || echo 'test: there is no Chromium, so no browser opens the report'
	@scripts/setup spark || echo 'test: there is no Java, so nothing runs in Spark'
	@scripts/setup redis || echo 'test: there is no Redis, so its module is neither built nor tested'
	@scripts/setup postgres || echo 'test: there is no PostgreSQL, so its extension is neither built nor tested'
	@scripts/test

check: ## the quick loop: build, unit tests, symbols, layers
	@scripts/setup test
	@cmake -S . -B build -DLEGO_BUILD_TESTS=ON --log-level=WARNING
	@cmake --build build $(jobs)
	@ctest --test-dir build -L quick $(jobs) --output-on-failure --no-tests=error

fuzz: ## the libFuzzer targets, FUZZ_SECONDS=60 each (installs clang)
	@scripts/setup fuzz
	@scripts/fuzz $(FUZZ_SECONDS)

fuzz-report: ## which lines of all that reads bytes from outside fuzzing reaches
	@scripts/setup fuzz
	@scripts/fuzz --report

soak: ## SOAK_CHANGES=1000000 random changes of sketches against dictionaries, under sanitizers; SOAK_SEED=1
	@scripts/setup test
	@cmake -S . -B build/asan -DLEGO_BUILD_TESTS=ON -DLEGO_SANITIZE=address,undefined --log-level=WARNING
	@cmake --build build/asan $(jobs) --target test_state
	@build/asan/test_state $(SOAK_CHANGES) $(SOAK_SEED)

kills: ## KILLS=10000 kills of commands that write, at each of their system calls, and each of these failing in turn
	@scripts/setup test
	@cmake -S . -B build -DLEGO_BUILD_TESTS=ON --log-level=WARNING
	@cmake --build build $(jobs) --target legosketch_cli tracer no_memory
	@KILLS=$(KILLS) /usr/bin/python3 -B tests/test_kills.py

portability: ## the library for aarch64, riscv64 and s390x: cross compilers build it, qemu runs its unit tests (installs both)
	@scripts/setup portability
	@scripts/portability

abi: ## whether programs that are linked with the last release run with this library (installs abigail-tools)
	@scripts/setup build
	@scripts/setup abi
	@scripts/abi

dist: ## the sources of this commit, build/legosketch-VERSION.tar.xz: the same bytes whoever makes it
	@scripts/dist

install: build ## install to PREFIX=/usr/local, below DESTDIR if given
	@cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(PREFIX) --log-level=WARNING
	@DESTDIR=$(DESTDIR) cmake --install build
	@[ "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig # programs find a new shared library only after this

clean: ## remove build/
	rm -rf build

format: ## clang-format every C file
	clang-format -i include/*.h $(wildcard $(foreach d,src lab cli bench fuzz tests tests/install bindings/python/src bindings/redis/src bindings/postgres/src,$(d)/*.[ch]))

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
