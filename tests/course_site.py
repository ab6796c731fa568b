"""The pages of the course as MkDocs builds them, without the rest of the documentation: seconds instead of twenty."""

from __future__ import annotations

import logging
from pathlib import Path

ROOT = Path(__file__).parents[1]
ONLY = "*.py\n*.md\n!learn/*.md\n"  # what is left out, and what is not


def build(folder: Path, theme: str = "material") -> Path:
    """Build the course into a folder and return where its pages are."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    logging.getLogger("mkdocs").setLevel(logging.ERROR)  # links into the rest of the documentation lead nowhere here
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        site_dir=str(folder),
        plugins=["search", "offline"],
        exclude_docs=ONLY,
        nav=None,
    )
    build_site(config)
    return folder / "learn"
