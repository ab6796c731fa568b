"""The page of results: each benchmark puts its own section there, in place of the one of its last run."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).with_name("results.md")


def write(section: str, text: str) -> None:
    """Put a section between its marks in results.md; the docs include what is between them."""
    begin, end = f"<!-- --8<-- [start:{section}] -->", f"<!-- --8<-- [end:{section}] -->"
    page = RESULTS.read_text() if RESULTS.exists() else "# Benchmark results\n"
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    RESULTS.write_text(f"{before.rstrip()}\n\n{begin}\n{text.strip()}\n{end}\n{after.lstrip()}")
