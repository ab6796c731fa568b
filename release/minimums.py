"""Print the smallest versions that `pyproject.toml` allows, as constraints for pip: ``make minimums`` tests with them.

Packages that only developers install are left out, so they may be newer.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
DEVELOPERS = {"build", "release", "demo", "bench", "fuzz", "docs", "dev"}  # extras of the project itself
OTHERS = {"cuda", "ray"}  # need a GPU or a cluster to be tested


def minimums(project: Path = PROJECT) -> dict[str, str]:
    """Return the smallest version of each package that users install, with all extras.

    Raises:
        ValueError: If a package has no smallest version, or several.
    """
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table["optional-dependencies"]
    rows = [
        *table["dependencies"],
        *(row for name in extras if name not in DEVELOPERS | OTHERS for row in extras[name]),
    ]
    found: dict[str, str] = {}
    for one in map(Requirement, rows):
        if one.name == table["name"]:
            continue
        least = {rule.version for rule in one.specifier if rule.operator == ">="}
        if len(least) != 1 or found.setdefault(one.name, *least) not in least:
            raise ValueError(f"{project}: {one} needs one smallest version, the same everywhere.")
    return found


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in minimums().items()))
