"""Adapts docstrings to Griffe, so that the reference shows them correctly and without warnings.

Griffe expects the heading ``Examples`` instead of ``Example``, describes the keys of a TypedDict only as attributes,
and takes a field with the name ``self`` for the instance.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Class, Extension, Object

EXAMPLE = re.compile(r"^(\s*)Example:$", re.MULTILINE)
ARGUMENTS = re.compile(r"^(\s*)Args:$", re.MULTILINE)
SELF = re.compile(r"^(\s*)self: ", re.MULTILINE)


def is_typed_dict(obj: Object) -> bool:
    """Return whether a class is a TypedDict, directly or by a base of linkwork, which its keyword ``total`` shows."""
    return isinstance(obj, Class) and ("total" in obj.keywords or "TypedDict" in map(str, obj.bases))


class Sections(Extension):
    """Reads ``Example:`` as ``Examples:``, and ``Args:`` of a TypedDict as ``Attributes:``."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the headings of a docstring."""
        if obj.docstring is None:
            return
        text = EXAMPLE.sub(r"\1Examples:", obj.docstring.value)
        if is_typed_dict(obj):
            text = ARGUMENTS.sub(r"\1Attributes:", text)
        elif isinstance(obj, Class) and "self" in obj.members:
            text = SELF.sub(rf"\1self ({obj.members['self'].annotation}): ", text)
        obj.docstring.value = text
