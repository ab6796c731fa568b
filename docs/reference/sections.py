"""Lets the reference show the example of a docstring as a session: Griffe knows the section only by its plural."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

HEADING = re.compile(r"^(\s*)Example:$", re.MULTILINE)


class Sections(Extension):
    """Reads ``Example:`` as ``Examples:``."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the heading in the docstring of everything that has one."""
        if obj.docstring is not None:
            obj.docstring.value = HEADING.sub(r"\1Examples:", obj.docstring.value)
