"""The public interface: what there is, that it is documented, how it is called and how little it loads."""

from __future__ import annotations

import dataclasses
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linkwork as lw

PUBLIC = [
    "Align",
    "Balance",
    "Ball",
    "Batch",
    "Bend",
    "Box",
    "Branches",
    "Builder",
    "Capsule",
    "Clip",
    "Close",
    "Continuous",
    "Couple",
    "Cylinder",
    "DHRow",
    "DHTable",
    "Distance",
    "Fixed",
    "Floating",
    "Frame",
    "GOALS",
    "Goal",
    "Harvest",
    "Hold",
    "Inertia",
    "Joint",
    "Key",
    "Link",
    "Linkage",
    "LinkworkError",
    "LookAt",
    "Loop",
    "METHODS",
    "Mesh",
    "Mimic",
    "OnLine",
    "OnPlane",
    "Pin",
    "Planar",
    "Polyline",
    "Prepared",
    "Prismatic",
    "Reach",
    "Relate",
    "Report",
    "Rest",
    "Revolute",
    "Screw",
    "Solution",
    "Sphere",
    "Swivel",
    "Timeline",
    "Universal",
    "Visual",
    "__version__",
    "bone",
    "close",
    "count_solutions",
    "degrees_of_freedom",
    "diagnose",
    "doctor",
    "draw",
    "drive",
    "errors",
    "explain",
    "formats",
    "from_dh",
    "inspect",
    "interpolate",
    "load",
    "load_clip",
    "loads",
    "loads_clip",
    "mass",
    "models",
    "paths",
    "prepare",
    "race",
    "repair",
    "retarget",
    "retarget_library",
    "retargeting",
    "save",
    "singular_positions",
    "solve",
    "solve_all",
    "solve_batch",
    "solve_blocks",
    "solve_dataset",
    "studio",
    "swivel",
    "textbook",
    "track",
    "transforms",
]
names = pytest.mark.parametrize("name", PUBLIC)

HEAVY = (
    "numba",
    "llvmlite",
    "scipy",
    "matplotlib",
    "typer",
    "rich",
    "msgspec",
    "yaml",
    "viser",
    "defusedxml",
    "mujoco",
    "pxr",
    "pygltflib",
)


def test_the_public_names_are_these() -> None:
    assert lw.__all__ == PUBLIC
    assert dir(lw) == PUBLIC


def test_no_other_name_is_given_out() -> None:
    with pytest.raises(AttributeError, match="'linkwork' has no attribute 'Linkge'"):
        lw.Linkge  # noqa: B018


@names
def test_every_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(lw, name)
    if name == "__version__":
        assert [part.isdigit() for part in thing.split(".")] == [True] * 3
    else:
        assert inspect.getdoc(thing)
        assert thing is getattr(lw, name)


def public_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Return the methods and properties that a class itself defines."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, property | classmethod | staticmethod)):
            yield name, member


CLASSES = [name for name in PUBLIC if inspect.isclass(getattr(lw, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_every_method_is_documented(name: str) -> None:
    cls = getattr(lw, name)
    for member, _ in public_members(cls):
        assert inspect.getdoc(getattr(cls, member)), f"{name}.{member}"


def test_every_error_is_an_error_of_ours_with_its_own_words() -> None:
    classes = [cls for _, cls in inspect.getmembers(lw.errors, inspect.isclass) if issubclass(cls, Exception)]
    assert len(classes) > 10
    for cls in classes:
        assert issubclass(cls, lw.LinkworkError)
        assert cls.__name__.endswith("Error")
        assert vars(cls).get("__doc__")
        assert cls.__name__ in (lw.errors.__doc__ or "")


# How things are called: operands by position, everything else by keyword

# An operand may have a default where leaving it out means something plain.
OPERANDS = {
    "Linkage": {"joints"},  # a single link
    "Linkage.pose": {"values"},  # the neutral pose
    "Linkage.as_dh": {"frame"},  # the last frame
    "Linkage.random_pose": {"size"},  # one pose
    "Builder.pose": {"values"},  # the neutral pose
    "DHTable.build": {"name"},  # "dh"
    "bone": {"color"},  # the drawer's choice, as in the record it makes
}


def callables() -> Iterator[tuple[str, Any]]:
    for name in PUBLIC:
        thing = getattr(lw, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            if not dataclasses.is_dataclass(thing):  # the fields of a record are what it is made of
                yield name, thing
            yield from ((f"{name}.{member}", f) for member, f in public_members(thing) if inspect.isfunction(f))


@pytest.mark.parametrize("name", [name for name, _ in callables()])
def test_operands_are_positional_and_options_are_keywords(name: str) -> None:
    options = {
        parameter.name
        for parameter in inspect.signature(dict(callables())[name]).parameters.values()
        if parameter.default is not parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    }
    assert options <= OPERANDS.get(name, set())


def test_every_parameter_has_a_type() -> None:
    for name, function in callables():
        for parameter in inspect.signature(function).parameters.values():
            assert parameter.name == "self" or parameter.annotation is not parameter.empty, f"{name}: {parameter.name}"


# How little is loaded


def loaded(script: str) -> set[str]:
    """Return which heavy packages a script leaves loaded in a fresh process."""
    code = f"{script}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_importing_linkwork_loads_nothing_heavy() -> None:
    assert loaded("import linkwork") == set()


def test_building_and_posing_loads_nothing_heavy() -> None:
    script = """
import linkwork as lw
b = lw.Builder("arm").revolute("shoulder", "upper").prismatic("slide", "fore", shape=lw.Box((1, 1, 1)))
arm = b.ball("wrist", "hand", euler="xyz").frame("tip", at=(0, 0, 1)).build()
q = arm.pose(shoulder="30deg", base=arm.random_pose(0, 3))
arm.interpolate(q, arm.neutral(), 0.5)
arm.freeze("slide", at=0.1).split().subtree("fore")
arm.freeze("wrist", at=[0, 0, 0]).as_dh("tip")
lw.from_dh([(0, 0, 1, 0)])
"""
    assert loaded(script) == set()


def test_forward_kinematics_loads_numba_and_no_picture() -> None:
    script = "import linkwork as lw\nlw.models.planar([2, 1]).forward([0, 0], frame='tip')"
    packages = loaded(script)
    assert "numba" in packages
    assert not packages & {"matplotlib", "typer", "viser"}


def test_the_typed_package_says_so() -> None:
    from importlib.resources import files

    assert (files("linkwork") / "py.typed").is_file()
