# Two commands do everything on a machine with Python 3.11+ and make:
#   make demo   install and build the gallery          make test   install with all tools and run the whole suite

PYTHON ?= python3
VENV ?= .venv
OLDEST ?= python3.11
BIN := $(VENV)/bin
WORKERS ?= 2
SECONDS ?= 60
FORMATS ?= urdf xacro mjcf bvh gltf glb usda usdc fbx yaml json smpl c3d trc srdf planning scene csv trajectory npz

# A quick run is two processes side by side, each with rooms of its own: none collects what the other runs.
HALF := cli draw explain formats goals kernels linkage motion retargeting sixty

# Kernels come from a pack that is built once, or from the compiler where it cannot be; `make test KERNELS=jit` leaves it alone.
ifdef KERNELS
export LINKWORK_KERNELS := $(KERNELS)
endif
PACK = $(BIN)/python -m linkwork.kernels --if-needed

.PHONY: demo test matrix quick coverage kernel-coverage check lint format types minimums bench fuzz soak docs notebooks build kernels wheels release web clean

demo: $(VENV)/demo.stamp
	@$(PACK) --levels host || true
	$(BIN)/linkwork demo

test: $(VENV)/dev.stamp
	@$(PACK) --levels host || true
	@$(BIN)/linkwork warmup  # says where kernels come from; compiles them where there is no pack
	@$(BIN)/python tests/parts.py --workers $(WORKERS) $(TESTFLAGS)

# Every test of kernels and solvers through the pack, with all its instruction sets, and through the compiler; what
# `make test` does by samples is done as often as it can be.
matrix: $(VENV)/dev.stamp
	@$(PACK)
	for way in pack jit; do for room in kernels solvers linkage goals; do \
	  LINKWORK_KERNELS=$$way $(BIN)/python -m pytest -q --exhaustive tests/$$room || exit 1; done; done
	$(BIN)/python -m pytest -q --exhaustive tests/test_docs_commands.py

quick: $(VENV)/dev.stamp
	@$(PACK) --levels host || true
	@$(BIN)/linkwork warmup  # says where kernels come from; compiles them where there is no pack
	@half="$(HALF:%=tests/%)"; $(BIN)/python -m pytest -q --quick $$half & one=$$!; \
	$(BIN)/python -m pytest -q --quick tests $(HALF:%=--ignore=tests/%); rest=$$?; wait $$one && exit $$rest

coverage: $(VENV)/dev.stamp
	rm -f .coverage .coverage.*
	$(MAKE) test TESTFLAGS="--cov --cov-report= --cov-fail-under=0"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# Kernels run as Python beside their machine code, where the tracer sees them; TESTS says by which tests.
TESTS ?= tests/kernels tests/solvers tests/collision tests/goals tests/linkage tests/explain tests/motion
kernel-coverage: $(VENV)/dev.stamp
	@$(PACK)
	@mkdir -p build
	COVERAGE_FILE=build/kernels.coverage PYTHONPATH=tests $(BIN)/python -m pytest -q -p kernels_in_python \
	  --cov --cov-config=tests/kernels.coveragerc --cov-report= $(TESTFLAGS) $(TESTS)
	$(BIN)/python tests/kernel_coverage.py build/kernels.coverage

check: lint types test

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

# A quick run with the smallest version of everything that pyproject.toml allows, on the oldest Python: that it is true.
minimums: build/minimums/stamp
	build/minimums/bin/python tests/parts.py --workers $(WORKERS) --quick -W ignore::DeprecationWarning

build/minimums/stamp: pyproject.toml release/minimums.py
	$(OLDEST) -m venv build/minimums
	build/minimums/bin/python -m pip install --quiet --disable-pip-version-check packaging
	build/minimums/bin/python release/minimums.py > build/minimums/constraints.txt
	build/minimums/bin/python -m pip install --quiet --disable-pip-version-check -c build/minimums/constraints.txt -e ".[jit,dev]"
	@touch $@

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/forward.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/ik.py
	$(BIN)/python benchmarks/closed_form.py
	$(BIN)/python benchmarks/several_solutions.py
	$(BIN)/python benchmarks/tracking.py
	$(BIN)/python benchmarks/whole_body.py
	@if [ -n "$(PROBLEMS)" ]; then $(BIN)/python benchmarks/collision.py "$(PROBLEMS)"; else echo "benchmarks/collision.py is left out: PROBLEMS=folder says where MotionBenchMaker's problems lie"; fi
	$(BIN)/python benchmarks/distances.py
	$(BIN)/python benchmarks/body_cycles.py
	$(BIN)/python benchmarks/body_batches.py
	$(BIN)/python benchmarks/body.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/datasets.py
	$(BIN)/python benchmarks/dataset_shapes.py
	$(BIN)/python benchmarks/retarget.py
	$(BIN)/python benchmarks/timing.py
	$(BIN)/python benchmarks/mechanisms.py
	$(BIN)/python benchmarks/machine_code.py

fuzz: $(VENV)/fuzz.stamp
	@for format in $(FORMATS); do echo "$$format: $(SECONDS) s"; \
	  $(BIN)/python tests/fuzz_readers.py $$format build/fuzz/$$format -max_total_time=$(SECONDS) || exit 1; done

# Random calls of everything public for SECONDS, every answer judged from outside.
soak: $(VENV)/dev.stamp
	$(BIN)/python tests/soak.py --seconds $(SECONDS)

docs: $(VENV)/docs.stamp
	@$(PACK) --levels host
	$(BIN)/mkdocs build --strict

# The lessons as notebooks; the same by hand: linkwork learn notebook all -o FOLDER
notebooks: $(VENV)/docs.stamp
	$(BIN)/linkwork learn notebook all --output build/notebooks --force

build: $(VENV)/dev.stamp
	$(BIN)/python -m build --no-isolation

# Machine code of the kernels for every platform, then wheels; what runs in an emulator here is run.
kernels: $(VENV)/dev.stamp
	$(BIN)/python -m linkwork.kernels --all --apart --output build/packs
	-$(BIN)/python -m linkwork.kernels cuda --output build/packs  # where CUDA's compiler is there; it says if not

wheels: kernels
	$(BIN)/python release/wheels.py dist --packs build/packs
	LINKWORK_PACKS=build/packs $(BIN)/python -m pytest -q tests/kernels/test_other_platforms.py

# Everything that is published, checked: wheels of all platforms, the source archive, an installation of its own.
# `make release LEVELS=host` rehearses it on this machine's platform alone, with the pack beside the kernels: minutes, not hours.
release: $(VENV)/dev.stamp
	rm -rf dist
ifeq ($(LEVELS),host)
	@$(PACK)
	$(BIN)/python release/wheels.py dist
	$(BIN)/python release/check.py dist --rehearsal
else
	$(MAKE) wheels
	$(BIN)/python release/check.py dist
endif

# linkwork.js: its machine code, the script for pages that are opened from disk, the linkages of web/example.html.
web: $(VENV)/dev.stamp
	@$(PACK)
	$(BIN)/python web/build.py

clean:
	rm -rf $(VENV) build dist site .coverage .mypy_cache .pytest_cache .ruff_cache gallery
	rm -f web/linkwork.wasm web/linkwork.inline.js web/linkwork.view.js web/example.packs.js

$(VENV)/bin/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "linkwork needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# One stamp for each set of extras: installed again when the project's own description changes.
$(VENV)/%.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[jit,$*]"
	@touch $@
