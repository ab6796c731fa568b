"""The public interface: its names, documentation, signatures, and how little it loads."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import os
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import children
import linkwork as lw
from linkwork.kernels.runtime import the_pack

PUBLIC = [
    "Align",
    "AllPoses",
    "Answers",
    "Articulation",
    "Assemblies",
    "Avoid",
    "Balance",
    "Ball",
    "Batch",
    "BatchRow",
    "Bend",
    "BodyBatch",
    "BodySolver",
    "Box",
    "Branches",
    "Builder",
    "CamFunction",
    "CamOutline",
    "CamProgram",
    "CamTable",
    "Capsule",
    "Clearance",
    "Clip",
    "Close",
    "ClosedForm",
    "ColumnSpread",
    "Contact",
    "Continuous",
    "Coordinate",
    "CoordinateTable",
    "Couple",
    "Coupling",
    "CouplingCurve",
    "Curve",
    "Cylinder",
    "DHRow",
    "DHTable",
    "DatasetResult",
    "Derivative",
    "Description",
    "Dexterity",
    "Diagnosis",
    "Differentiable",
    "Distance",
    "Element",
    "Finding",
    "Fixed",
    "Floating",
    "Follow",
    "Frame",
    "FrameMap",
    "GOALS",
    "Geneva",
    "Goal",
    "HalfSpace",
    "HeightField",
    "Hold",
    "Hull",
    "Inertia",
    "InspectOptions",
    "Joint",
    "Key",
    "Link",
    "Linkage",
    "LinkworkError",
    "LookAt",
    "Loop",
    "LoopRates",
    "METHODS",
    "MarkerFit",
    "Markers",
    "Mesh",
    "Mimic",
    "MissingRows",
    "Mobility",
    "NearPair",
    "NoForm",
    "Obstacle",
    "OnLine",
    "OnPlane",
    "Origin",
    "PackedLinkage",
    "Pin",
    "Planar",
    "PointCloud",
    "Polyline",
    "Polynomial",
    "Prepared",
    "PreparedMethod",
    "Prismatic",
    "Race",
    "RaceResult",
    "Reach",
    "Relate",
    "Repair",
    "Report",
    "Rest",
    "Revolute",
    "SampledGoals",
    "Screw",
    "Shape",
    "SingularPosition",
    "SingularPositions",
    "Solution",
    "SolutionsBatch",
    "Sphere",
    "Statics",
    "Step",
    "Swivel",
    "Timeline",
    "TriangleMesh",
    "Universal",
    "Verification",
    "Visit",
    "Visual",
    "World",
    "__version__",
    "assemble",
    "bone",
    "cam_outline",
    "clearance",
    "close",
    "closed_form",
    "collides",
    "collision",
    "count_solutions",
    "degrees_of_freedom",
    "describe_dataset",
    "diagnose",
    "differentiable",
    "doctor",
    "draw",
    "drive",
    "drive_rates",
    "errors",
    "explain",
    "formats",
    "from_dh",
    "goals",
    "inspect",
    "interpolate",
    "layer",
    "learn",
    "load",
    "load_clip",
    "load_markers",
    "load_world",
    "loads",
    "loads_clip",
    "loop_rates",
    "mass",
    "mechanical_advantage",
    "mobility",
    "models",
    "paths",
    "prepare",
    "race",
    "repair",
    "retarget",
    "retarget_library",
    "retargeting",
    "sample_goals",
    "save",
    "save_goals",
    "save_srdf",
    "singular_positions",
    "solve",
    "solve_all",
    "solve_all_batch",
    "solve_batch",
    "solve_blocks",
    "solve_dataset",
    "solve_markers",
    "solvers",
    "statics",
    "step",
    "studio",
    "swivel",
    "synthesis",
    "textbook",
    "track",
    "transforms",
    "transmission_angle",
    "verify_dataset",
]
names = pytest.mark.parametrize("name", PUBLIC)

HEAVY = (
    "numba",
    "llvmlite",
    "scipy",
    "matplotlib",
    "click",
    "rich",
    "msgspec",
    "yaml",
    "websockets",
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


@pytest.mark.parametrize(
    "package", [lw, lw.draw, lw.explain, lw.formats, lw.solvers, lw.studio], ids=lambda package: package.__name__
)
def test_type_checkers_are_told_the_same_names(package: Any) -> None:
    """Names in the imports for type checkers equal those found at run time."""
    told: dict[str, str] = {}
    for node in ast.parse(Path(package.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name):  # if TYPE_CHECKING
            for imported in node.body:
                assert isinstance(imported, ast.ImportFrom)
                for name in imported.names:
                    home = "." * (imported.level - 1) + (imported.module or "")
                    if name.asname is not None:
                        told[name.asname] = f"{home}.{name.name}" if home else name.name
    found = {name: f"{home}.{name}" for home, names in package._NAMES.items() for name in names.split()}
    assert told == found | (lw._MODULES if package is lw else {})


# Results of public calls

# Classes that packages only pass to each other.
INTERNAL = {
    "Scene",
    "ExactScene",
    "CouplingRow",
    "BodyFollower",
    "Cache",
    "Cone",
    "Drive",
    "Evaluator",
    "Follower",
    "Plain",
    "Plan",
    "SearchResult",
}
NAMESPACES = [name for name in PUBLIC if inspect.ismodule(getattr(lw, name))]


def public_things() -> Iterator[tuple[str, Any]]:
    """Yield everything with a public name, and the name."""
    for name in PUBLIC:
        yield f"lw.{name}", getattr(lw, name)
    for space in NAMESPACES:
        module = getattr(lw, space)
        own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", own):
            if not name.startswith("_"):
                yield f"lw.{space}.{name}", getattr(module, name)


@functools.cache
def names_in(module: str) -> dict[str, Any]:
    """Return the names for annotations of a module: its own, and those that only type checkers import."""
    found = vars(sys.modules[module]).copy()
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module, "exec"), found)
    return found


def classes_in(hint: Any) -> Iterator[type]:
    """Yield linkwork's classes in a type, also in its arguments."""
    if inspect.isclass(hint) and hint.__module__.startswith("linkwork"):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


def returned(thing: Any, where: str) -> Iterator[tuple[str, type]]:
    """Yield the classes that a function returns, or that methods, properties and fields of a class have."""
    if inspect.isfunction(thing):
        hint = thing.__annotations__.get("return")
        value = eval(hint, names_in(thing.__module__)) if isinstance(hint, str) else hint
        yield from ((where, found) for found in classes_in(value))
    elif inspect.isclass(thing) and thing.__module__.startswith("linkwork"):
        for cls in thing.__mro__:
            if cls.__module__.startswith("linkwork"):
                for name, hint in vars(cls).get("__annotations__", {}).items():
                    value = eval(hint, names_in(cls.__module__)) if isinstance(hint, str) else hint
                    yield from ((f"{where}.{name}", found) for found in classes_in(value) if name[0] != "_")
                for name, member in vars(cls).items():
                    function = inspect.unwrap(getattr(member, "fget", getattr(member, "func", member)))
                    function = getattr(function, "__func__", function)
                    if not name.startswith("_") and inspect.isfunction(function):
                        yield from returned(function, f"{where}.{name}")


def test_every_class_that_a_public_call_returns_has_a_public_name() -> None:
    things = dict(public_things())
    known = {thing for thing in things.values() if inspect.isclass(thing)}
    missing = {
        f"{cls.__module__}.{cls.__name__}, which {where} gives"
        for name, thing in things.items()
        for where, cls in returned(thing, name)
        if not known & set(cls.__mro__) and cls.__name__ not in INTERNAL
    }
    assert not missing, "\n".join(sorted(missing))


def test_every_public_class_is_in_the_reference() -> None:
    pages = (Path(__file__).parents[1] / "docs" / "reference").glob("*.md")
    listed = {
        name for page in pages for name in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    missing = {
        f"{name}: {cls.__module__}.{cls.__name__}"
        for name, cls in public_things()
        if inspect.isclass(cls)
        and not listed & {cls.__module__, f"{cls.__module__}.{cls.__name__}", name.replace("lw.", "linkwork.")}
    }
    assert not missing, "\n".join(sorted(missing))


# Signatures: operands by position, everything else by keyword

# An operand may have a default if its absence has an obvious meaning.
OPERANDS = {
    "Linkage": {"joints"},  # a single link
    "Linkage.pose": {"values"},  # the neutral pose
    "Linkage.add_frame": {"placement"},  # the link's own
    "Linkage.as_dh": {"frame"},  # the last frame
    "Linkage.random_pose": {"size"},  # one pose
    "Linkage.pack": {"solvers"},  # none
    "Builder.pose": {"values"},  # the neutral pose
    "DHTable.build": {"name"},  # "dh"
    "Clip.plant": {"contacts"},  # those that are found
    "FrameMap.get": {"default"},  # as in mappings
    "World": {"obstacles"},  # none
    "clearance": {"world"},  # none: only the linkage
    "collides": {"world"},
    "solve_batch": {"targets"},  # in the mapping
    "bone": {"color"},  # a default colour, as in the record it makes
}


def callables() -> Iterator[tuple[str, Any]]:
    for name in PUBLIC:
        thing = getattr(lw, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            if not dataclasses.is_dataclass(thing) and not issubclass(thing, tuple | dict):  # records have only fields
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


# An option has the same type everywhere, except for None. `float` is a time, `FloatArray` is in goals and records.
TYPES = {
    "start": {"PoseLike", "float", "FloatArray"},
    "q": {"PoseLike", "FloatArray"},
    "dtype": {"DTypeLike", "Any"},
    "limits": {"Limits"},
}
OTHERS = {"bone": "start", "draw.pose": "limits", "draw.strip": "limits"}  # a point; whether to draw them
OTHERS |= dict.fromkeys(
    ("Builder.revolute", "Builder.prismatic", "Builder.screw", "DHRow", "transforms.as_pair"), "limits"
)  # of one joint


def test_an_option_has_one_type_everywhere() -> None:
    spaces = [(name.removeprefix("lw."), thing) for name, thing in public_things() if name.count(".") > 1]
    functions = [*callables(), *((name, thing) for name, thing in spaces if inspect.isfunction(thing))]
    checked = set()
    for name, function in functions:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in TYPES and OTHERS.get(name) != parameter.name:
                kind = str(parameter.annotation).removesuffix(" | None")
                assert kind in TYPES[parameter.name], f"{name}: {parameter.name} is {kind}"
                checked.add(name)
    assert len(checked) > 30


def test_a_pose_is_taken_by_name_by_joint_or_as_numbers() -> None:
    arm = lw.models.panda()
    q = arm.stored_pose("ready")
    goal = lw.Reach("tip", pose=arm.forward(q, frame="tip"))
    ik, body = lw.prepare(arm, "tip"), lw.prepare(arm, [goal])
    for pose in ("ready", dict(zip(arm.coordinates, q.tolist(), strict=True)), q.tolist()):
        assert (arm.forward(pose, frame="tip") == goal.target).all()
        for solution in (lw.solve(arm, goal, start=pose), ik(goal.target, start=pose), body([goal], start=pose)):
            assert abs(solution.q - q).max() < 1e-9
        assert lw.solve_batch(arm, "tip", goal.target[None], start=pose).success.all()
        assert not lw.explain.is_singular(arm, pose, "tip")


# Loaded modules


def loaded(script: str) -> set[str]:
    """Return the heavy packages that are loaded after a script in a new process."""
    code = f"{script}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    done = children.run([sys.executable, "-W", "error", "-c", code], env=environment, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_importing_linkwork_loads_nothing_heavy() -> None:
    assert loaded("import linkwork") == set()


def test_building_and_posing_loads_nothing_heavy() -> None:
    script = """
import linkwork as lw
b = lw.Builder("arm").revolute("shoulder", "upper").prismatic("slide", "fore", shape=lw.Box((1, 1, 1)))
arm = b.ball("wrist", "hand", euler="XYZ").frame("tip", at=(0, 0, 1)).build()
q = arm.pose(shoulder="30deg", base=arm.random_pose(0, 3))
arm.interpolate(q, arm.neutral(), 0.5)
arm.freeze("slide", at=0.1).split().subtree("fore")
arm.freeze("wrist", at=[0, 0, 0]).as_dh("tip")
lw.from_dh([(0, 0, 1, 0)])
"""
    assert loaded(script) == set()


FIRST_ANSWERS = """
import linkwork as lw

arm = lw.models.panda()
target = arm.forward("ready", frame="tip")
arm.jacobian("ready", "tip")
assert lw.solve(arm, lw.Reach("tip", pose=target)).reason.startswith("reached")
ik = lw.prepare(arm, "tip")
assert ik.step(target, ik(target).q, dt=0.01).status == "reached"
turned = lw.Reach("tip", position=target[:3, 3], orientation={"euler": ("xyz", [180, 0, 0])})
assert turned.orientation.shape == (3, 3)

body = lw.models.human(root="floating")
hands = [lw.Reach(f"{side}_hand", position=(0.3, y, 1.2)) for side, y in (("left", 0.2), ("right", -0.2))]
assert lw.solve(body, [*hands, lw.Hold("left_foot"), lw.Balance()], start="stand")

b = lw.Builder("kite", root="floating").ball("wrist", "hand").frame("tip", at=(0, 0, 0.1))
kite = b.build()
q = kite.integrate(kite.neutral(), [0.1] * kite.nv)
assert lw.solve(kite, [lw.Reach("tip", pose=kite.forward(q, frame="tip")), lw.Rest()], start=kite.neutral())
kite.interpolate(q, kite.neutral(), 0.5)
"""

FROM_A_FILE = """
import linkwork as lw

links = '<link name="base"/><link name="upper"/><link name="hand"/>'
joint = '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><limit lower="-2" upper="2"/></joint>'
joints = joint.format("shoulder", "base", "upper") + joint.format("elbow", "upper", "hand")
arm = lw.loads(f'<robot name="arm">{links}{joints}</robot>', "urdf")
assert lw.solve(arm, lw.Reach("hand", pose=arm.forward([0.1, 0.2], frame="hand")))
"""

FIRST_COMMANDS = """
from linkwork.cli.app import app

for words in (["info", "panda"], ["solve", "panda", "--position", "0.4,0.2,0.5", "--start", "ready"], ["pose", "ur5"]):
    try:
        app(words)
    except SystemExit as end:
        assert end.code == 0
"""


FIRST_PAGE = """
import sys
from urllib.request import urlopen
import linkwork as lw

with lw.studio.open_studio("panda", port=0) as studio:
    assert urlopen(studio.url).status == urlopen(studio.url + "studio.js").status == 200
    assert studio.idle(30.0)
late = '''scipy yaml matplotlib numba draw.chapter draw.charts draw.films models.textbook explain.diagnosis
explain.races formats.doctor formats.gltf_skin formats.scene_schema studio.racing studio.overlays studio.inspection'''
print(*(name for name in late.split() if name in sys.modules or f"linkwork.{name}" in sys.modules))
"""


def test_the_first_page_of_the_studio_needs_little() -> None:
    """Slow imports wait until they are needed: races, reasons, exports, files."""
    pytest.importorskip("websockets")
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    done = children.run([sys.executable, "-W", "error", "-c", FIRST_PAGE], env=environment, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", [])


@pytest.mark.parametrize(("script", "allowed"), [(FIRST_ANSWERS + FROM_A_FILE, set()), (FIRST_COMMANDS, {"click"})])
def test_first_answers_need_nothing_heavy_and_little_memory(script: str, allowed: set[str]) -> None:
    """They work if heavy packages cannot be imported; Numba is only needed without a pack."""
    packed = not isinstance(the_pack(), str)
    compiler = set() if packed else {"numba", "llvmlite", "asyncio", "concurrent.futures", "urllib.request"}
    forbidden = sorted({*HEAVY, "concurrent.futures", "asyncio", "urllib.request", "trimesh"} - allowed - compiler)
    code = f"import sys\nsys.modules |= dict.fromkeys({forbidden!r})\n{script}"
    if sys.platform == "linux":
        code += "\nfrom pathlib import Path\nprint(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    done = children.run([sys.executable, "-W", "error", "-c", code], env=environment, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    if packed and sys.platform == "linux":
        assert int(done.stdout.split()[-1]) < 80_000  # kB


def test_a_model_is_built_and_posed_without_solvers_and_without_other_models() -> None:
    script = "import linkwork as lw, sys\nlw.models.panda().forward([0.0] * 7)\nprint(*sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(Path(lw.__file__).parents[1])}
    found = set(
        children.run(
            [sys.executable, "-c", script], env=environment, text=True, check=True, encoding="utf-8"
        ).stdout.split()
    )
    assert "linkwork.linkage.linkage" in found
    assert not [name for name in found if name.startswith(("linkwork.solvers", "linkwork.motion", "linkwork.explain"))]
    assert not {"linkwork.models.humans", "linkwork.models.closed"} & found


def test_the_typed_package_says_so() -> None:
    from importlib.resources import files

    assert (files("linkwork") / "py.typed").is_file()
