"""Errors: the documented class tree, helpful messages, fields that survive pickling."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
import re

import pytest

from linkwork import errors
from linkwork.errors import (
    MAX_LISTED,
    DuplicateNameError,
    FormatError,
    FrameNotFoundError,
    LinkworkError,
    MissingExtraError,
    NotFoundError,
    PoseNotFoundError,
    PoseShapeError,
    listed,
)

CLASSES = {
    name: cls
    for name, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, BaseException) and cls.__module__ == errors.__name__
}
DRAWN = re.compile(r"^(?P<indent>[ │├└─]*)(?P<name>\w+Error)(?: \((?P<builtin>\w+)\))?", re.MULTILINE)

EXAMPLES = [
    DuplicateNameError("link", "hand", "linkage 'arm'"),
    FormatError("walk.bvh", "CHANNELS says 6 but names 5.", line=14),
    MissingExtraError("matplotlib", "plot", "drawing"),
    PoseShapeError(7, (6,), "panda"),
    *(
        cls("wirst", "linkage 'arm'", ["base", "wrist"])
        for cls in CLASSES.values()
        if issubclass(cls, NotFoundError) and cls is not NotFoundError
    ),
]


def drawn_parents() -> dict[str, tuple[str | None, str | None]]:
    """Return the parent and the builtin base that the module docstring draws for every class."""
    parents: dict[str, tuple[str | None, str | None]] = {}
    open_above: list[tuple[int, str]] = []
    for line in DRAWN.finditer(inspect.getdoc(errors) or ""):
        depth = len(line["indent"])
        while open_above and open_above[-1][0] >= depth:
            open_above.pop()
        parents[line["name"]] = (open_above[-1][1] if open_above else None, line["builtin"])
        open_above.append((depth, line["name"]))
    return parents


def test_the_docstring_draws_every_class_once():
    assert sorted(drawn_parents()) == sorted(CLASSES)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_hang_where_the_docstring_draws_them(name):
    parent, builtin = drawn_parents()[name]
    bases = [base.__name__ for base in CLASSES[name].__bases__]
    assert bases == [base for base in (parent or "Exception", builtin) if base]
    assert issubclass(CLASSES[name], LinkworkError)
    if builtin:
        assert issubclass(CLASSES[name], getattr(builtins, builtin))


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_class_says_what_it_means(name):
    assert CLASSES[name].__doc__
    assert name.endswith("Error")


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_travel_between_processes(error):
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_a_misspelt_name_is_met_with_the_nearest_one():
    error = FrameNotFoundError("wirst", "linkage 'arm'", ["base", "elbow", "wrist"])
    assert str(error) == "no frame 'wirst' in linkage 'arm'; did you mean 'wrist'? It has base, elbow, wrist."
    assert (error.name, error.known) == ("wirst", ("base", "elbow", "wrist"))


def test_a_name_like_no_other_is_met_with_what_exists():
    message = str(FrameNotFoundError("hoof", "linkage 'arm'", ["base", "wrist"]))
    assert message == "no frame 'hoof' in linkage 'arm'. It has base, wrist."


def test_nothing_exists_is_said_too():
    assert str(PoseNotFoundError("home", "linkage 'arm'", [])).endswith("It has no stored poses.")


@pytest.mark.parametrize("name", [None, 3, ("a", "b"), ["wrist"]])
def test_a_name_may_be_of_any_type(name):
    assert repr(name) in str(FrameNotFoundError(name, "linkage 'arm'", ["wrist"]))


def test_fields_are_kept():
    duplicate = DuplicateNameError("link", "hand", "linkage 'arm'")
    assert (duplicate.kind, duplicate.name, duplicate.where) == ("link", "hand", "linkage 'arm'")
    shape = PoseShapeError(7, [6], "panda")
    assert (shape.expected, shape.got, shape.linkage) == (7, (6,), "panda")
    assert str(shape) == "expected a pose of shape (..., 7) for linkage 'panda', got (6,)."
    fault = FormatError("walk.bvh", "CHANNELS says 6 but names 5.", line=14)
    assert (fault.path, fault.line) == ("walk.bvh", 14)
    assert str(fault) == "walk.bvh:14: CHANNELS says 6 but names 5."
    assert str(FormatError("walk.bvh", "is empty.")) == "walk.bvh: is empty."
    missing = MissingExtraError("matplotlib", "plot", "drawing")
    assert (missing.package, missing.extra) == ("matplotlib", "plot")
    assert "pip install 'linkwork[plot]'" in str(missing)


@pytest.mark.parametrize("count", [0, 1, MAX_LISTED, MAX_LISTED + 1, 1000])
def test_a_list_is_cut_short_and_counts_the_rest(count):
    names = [f"link{k}" for k in range(count)]
    text = listed(names)
    assert text.count(",") == max(min(count, MAX_LISTED) - 1, 0)
    assert (f"and {count - MAX_LISTED} more" in text) == (count > MAX_LISTED)
