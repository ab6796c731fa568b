# Two commands to start with; they need Python 3.11 or newer and make:
#   make demo   install and build the gallery          make test   install with all tools and run the whole suite

PYTHON ?= python3
VENV ?= .venv
OLDEST ?= python3.11
BIN := $(VENV)/bin
WORKERS ?= 2
SECONDS ?= 60
FORMATS ?= urdf xacro mjcf bvh gltf glb usda usdc fbx yaml json smpl c3d trc srdf planning scene csv trajectory npz

# `make quick` runs two processes in parallel: one has these folders of tests, the other has the rest.
HALF := cli draw explain formats goals kernels linkage motion retargeting sixty

# Kernels are loaded from a pack, which is built once. If it cannot be built, Numba compiles them; `make test KERNELS=jit` always does.
ifdef KERNELS
export LINKWORK_KERNELS := $(KERNELS)
endif
PACK = $(BIN)/python -m linkwork.kernels --if-needed

.PHONY: demo test matrix quick coverage kernel-coverage kernels-in-python mutants check lint format types minimums integrations resolve windows bench fuzz soak docs notebooks build kernels wheels release web clean

demo: $(VENV)/demo.stamp
	@$(PACK) --levels host || true
	$(BIN)/linkwork demo

test: $(VENV)/dev.stamp
	@$(PACK) --levels host || true
	@$(BIN)/linkwork warmup  # prints where kernels come from; compiles them if there is no pack
	@$(BIN)/python tests/parts.py --workers $(WORKERS) $(TESTFLAGS)

# All cases, instead of the samples of `make test`, of tests of kernels, solvers, linkages and goals: with the pack, all of its
# instruction sets, and with kernels compiled by Numba.
matrix: $(VENV)/dev.stamp
	@$(PACK)
	for way in pack jit; do for room in kernels solvers linkage goals; do \
	  LINKWORK_KERNELS=$$way $(BIN)/python -m pytest -q --exhaustive tests/$$room || exit 1; done; done
	$(BIN)/python -m pytest -q --exhaustive tests/test_docs_commands.py

quick: $(VENV)/dev.stamp
	@$(PACK) --levels host || true
	@$(BIN)/linkwork warmup  # prints where kernels come from; compiles them if there is no pack
	@half="$(HALF:%=tests/%)"; $(BIN)/python -m pytest -q --quick $$half & one=$$!; \
	$(BIN)/python -m pytest -q --quick tests $(HALF:%=--ignore=tests/%); rest=$$?; wait $$one && exit $$rest

coverage: $(VENV)/dev.stamp
	rm -f .coverage .coverage.*
	$(MAKE) test TESTFLAGS="--cov --cov-report= --cov-fail-under=0"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# Coverage of kernels by the suite, measured by a pack whose machine code marks the lines it runs.
kernel-coverage: $(VENV)/dev.stamp
	@$(PACK) --levels host
	$(BIN)/python tests/kernel_lines.py build
	PYTHONPATH=tests $(BIN)/python tests/parts.py --workers $(WORKERS) -p kernel_lines $(TESTFLAGS)
	$(BIN)/python tests/kernel_lines.py report --least 98

# Kernels as plain Python and as machine code, with bounds on all memory; results are compared. TESTS selects the tests.
TESTS ?= tests/kernels tests/solvers tests/collision
kernels-in-python: $(VENV)/dev.stamp
	@$(PACK) --levels host
	PYTHONPATH=tests $(BIN)/python -m pytest -q -p kernels_in_python $(TESTFLAGS) $(TESTS)

# Mutation testing, lists small faults that tests do not notice: make mutants MODULE=linkage/joints.py TESTS=tests/linkage
mutants: $(VENV)/dev.stamp
	@$(PACK) --levels host
	$(BIN)/python tests/mutants.py --workers $(WORKERS) $(MODULE) $(TESTS)

check: lint types test

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/dev.stamp
	$(BIN)/mypy

# A quick run with the oldest versions that pyproject.toml allows, on the oldest Python.
minimums: $(VENV)/demo.stamp build/minimums/stamp
	@$(PACK) --levels host || true
	build/minimums/bin/python tests/parts.py --workers $(WORKERS) --quick -W ignore::DeprecationWarning

build/minimums/stamp: pyproject.toml release/minimums.py
	$(OLDEST) -m venv build/minimums
	build/minimums/bin/python -m pip install --quiet --disable-pip-version-check packaging
	build/minimums/bin/python release/minimums.py > build/minimums/constraints.txt
	build/minimums/bin/python -m pip install --quiet --disable-pip-version-check -c build/minimums/constraints.txt -e ".[jit,dev]"
	@touch $@

# Tests with packages that are too large for the dev extra: PyTorch, JAX, Rerun and Blender, whose wheel is for one version of Python.
INTEGRATIONS := tests/extras tests/solvers/test_torch_gradients.py tests/solvers/test_jax_gradients.py tests/formats/test_rerun.py
integrations: $(VENV)/demo.stamp build/integrations/stamp
	@$(PACK) --levels host || true
	build/integrations/bin/python -m pytest -q --memory 4000 $(TESTFLAGS) $(INTEGRATIONS)

build/integrations/stamp: pyproject.toml
	$(OLDEST) -m venv build/integrations
	build/integrations/bin/python -m pip install --quiet --disable-pip-version-check -e ".[jit,dev,torch,jax,rerun]"
	@# Blender's wheel asks for NumPy 1 and works with NumPy 2 (docs/blender.md), so its dependencies are named here.
	build/integrations/bin/python -m pip install --quiet --disable-pip-version-check --no-deps "bpy>=5.0,<5.1" cython requests zstandard
	@touch $@

# Checks that every extra can be installed from wheels, on all platforms and versions of Python; it only asks the package index.
resolve: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python release/resolve.py

# The suite with Python for Windows, in Wine 10 or newer.
windows: $(VENV)/dev.stamp
	test -d build/packs/windows-x86_64 || $(BIN)/python -m linkwork.kernels windows-x86_64 wasm --output build/packs
	$(BIN)/python release/windows.py build/windows --packs build/packs --workers $(WORKERS) $(TESTFLAGS)

# Other libraries are in a separate environment, since some need older versions of packages than the tests.
bench: $(VENV)/demo.stamp build/bench/stamp
	@$(PACK) --levels host || true
	build/bench/bin/python benchmarks/start.py
	build/bench/bin/python benchmarks/forward.py
	build/bench/bin/python benchmarks/methods.py
	build/bench/bin/python benchmarks/ik.py
	build/bench/bin/python benchmarks/closed_form.py
	build/bench/bin/python benchmarks/several_solutions.py
	build/bench/bin/python benchmarks/tracking.py
	build/bench/bin/python benchmarks/whole_body.py
	@if [ -n "$(PROBLEMS)" ]; then build/bench/bin/python benchmarks/collision.py "$(PROBLEMS)"; else echo "skipping benchmarks/collision.py: set PROBLEMS to the folder with MotionBenchMaker's problems"; fi
	build/bench/bin/python benchmarks/distances.py
	build/bench/bin/python benchmarks/body_cycles.py
	build/bench/bin/python benchmarks/body_batches.py
	build/bench/bin/python benchmarks/body.py
	build/bench/bin/python benchmarks/files.py
	build/bench/bin/python benchmarks/datasets.py
	build/bench/bin/python benchmarks/dataset_shapes.py
	build/bench/bin/python benchmarks/retarget.py
	build/bench/bin/python benchmarks/timing.py
	build/bench/bin/python benchmarks/mechanisms.py
	build/bench/bin/python benchmarks/machine_code.py

build/bench/stamp: pyproject.toml
	$(PYTHON) -m venv build/bench
	build/bench/bin/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	@touch $@

fuzz: $(VENV)/fuzz.stamp
	@for format in $(FORMATS); do echo "$$format: $(SECONDS) s"; \
	  $(BIN)/python tests/fuzz_readers.py $$format build/fuzz/$$format -max_total_time=$(SECONDS) || exit 1; done

# Random calls of the public API for SECONDS; every result is checked independently.
soak: $(VENV)/dev.stamp
	$(BIN)/python tests/soak.py --seconds $(SECONDS)

docs: $(VENV)/docs.stamp
	@$(PACK) --levels host
	$(BIN)/mkdocs build --strict

# The lessons of the course as notebooks.
notebooks: $(VENV)/docs.stamp
	$(BIN)/linkwork learn notebook all --output build/notebooks --force

build: $(VENV)/dev.stamp
	$(BIN)/python -m build --no-isolation

# Packs of kernels for all platforms. `make wheels` then builds wheels and runs their machine code in emulators.
kernels: $(VENV)/dev.stamp
	$(BIN)/python -m linkwork.kernels --all --apart --output build/packs
	-$(BIN)/python -m linkwork.kernels cuda --output build/packs  # needs CUDA's compiler; prints a message without it

wheels: kernels
	$(BIN)/python release/wheels.py dist --packs build/packs
	LINKWORK_PACKS=build/packs $(BIN)/python -m pytest -q tests/kernels/test_other_platforms.py

# Build and check everything that is published: wheels of all platforms and the source archive, also by an installation outside the
# checkout. `make release LEVELS=host` rehearses it for this platform only, in minutes instead of half an hour.
release: $(VENV)/$(if $(filter host,$(LEVELS)),dev,release).stamp
	rm -rf dist
ifeq ($(LEVELS),host)
	@$(PACK)
	$(BIN)/python release/wheels.py dist
	$(BIN)/python release/check.py dist --rehearsal
else
	$(MAKE) wheels
	$(BIN)/python release/check.py dist
endif

# linkwork.js: its machine code, the script for pages opened from disk, and the linkages of web/example.html.
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

# One stamp per extra, so that it is installed again after a change of pyproject.toml.
$(VENV)/%.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[jit,$*]"
	@touch $@
