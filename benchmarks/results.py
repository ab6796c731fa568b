"""The page of results: each benchmark replaces its own section."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.md")


def write(section: str, text: str) -> None:
    """Write a section of results.md between its markers; the documentation includes sections by their markers."""
    begin, end = f"<!-- --8<-- [start:{section}] -->", f"<!-- --8<-- [end:{section}] -->"
    page = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Benchmark results\n"
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    RESULTS.write_text(f"{before.rstrip()}\n\n{begin}\n{text.strip()}\n{end}\n{after.lstrip()}", encoding="utf-8")


def say(text: str) -> None:
    """Print a message to stderr."""
    print(text, file=sys.stderr, flush=True)


def arguments(page: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark, described by the first line of its module, with the common options."""
    parser = argparse.ArgumentParser(description=page.splitlines()[0] if page else None)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--no-write", action="store_true", help="do not change results.md")
    return parser


def publish(section: str, text: str, found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the results, as a section or as JSON, and write the section unless ``--no-write`` is given."""
    print(json.dumps(found, indent=2) if options.json else text)
    if not options.no_write:
        write(section, text)
        say(f"updated {RESULTS.name}")
