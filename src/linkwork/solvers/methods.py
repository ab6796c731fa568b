"""The table of methods, and how to create one from its name and options.

To add a method, write one class with a `step` and add one row to `METHODS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ..errors import MethodNotFoundError, OptionError
from ..linkage.linkage import Linkage
from ..linkage.plugins import Table
from .analytic import Analytic
from .ccd import CyclicDescent, RankedDescent
from .fabrik import Fabrik
from .jacobian import Alternative, Control, Damped, Inverse, Pseudoinverse, SelectivelyDamped, Transpose
from .method import Method
from .options import Settings, given_tolerance, refuse_unknown
from .prioritized import Prioritized
from .robust import Robust

_OWN: dict[str, type[Method]] = {
    cls.name: cls
    for cls in (
        Inverse,
        Pseudoinverse,
        Damped,
        SelectivelyDamped,
        Control,
        Alternative,
        Transpose,
        CyclicDescent,
        RankedDescent,
        Fabrik,
        Analytic,
        Robust,
        Prioritized,
    )
}


def _wrong(name: str, row: object) -> str:
    if not (isinstance(row, type) and issubclass(row, Method) and is_dataclass(row)):
        return f"it is {row!r}, not a dataclass that is a Method"
    return "" if row.name == name else f"the method calls itself {row.name!r}"


METHODS: Table[type[Method]] = Table("linkwork.methods", _OWN, _wrong)


def configure(method: str | Method, options: Mapping[str, Any], linkage: Linkage) -> tuple[Method, Settings]:
    """Return a method and the loop's settings for a linkage, from a name and the options of both."""
    common = {f.name for f in fields(Settings)}
    if isinstance(method, Method):
        own: set[str] = set()
        make: Any = lambda: method  # noqa: E731
    else:
        if method not in METHODS:
            raise MethodNotFoundError(method, "linkwork", METHODS)
        make = METHODS[method]
        own = {f.name for f in fields(make)}
    takes = f"It takes {', '.join(sorted(own)) or 'no options'} and, like every method, {', '.join(sorted(common))}."
    if "avoid" in options:
        raise OptionError("solve takes obstacles as a goal, not as an option: solve(linkage, [goal, Avoid(world)]).")
    refuse_unknown(options, common | own, f"method {method!r}", more=takes)
    chosen = make(**{name: value for name, value in options.items() if name in own})
    loop = {name: value for name, value in options.items() if name in common}
    loop["tolerance"] = given_tolerance(linkage, loop.get("tolerance"))
    return chosen, Settings(**loop)
