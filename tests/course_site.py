"""Builds the pages of the course with MkDocs, without the rest of the documentation, which takes twenty seconds."""

from __future__ import annotations

import logging
from pathlib import Path

ROOT = Path(__file__).parents[1]
ONLY = "*.py\n*.md\n!learn/*.md\n"  # exclude all pages but those of the course


def build(folder: Path, theme: str = "material") -> Path:
    """Build the course into a folder and return the folder of its pages."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    logging.getLogger("mkdocs").setLevel(logging.ERROR)  # links to other pages are broken here
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        site_dir=str(folder),
        plugins=["search", "offline"],
        exclude_docs=ONLY,
        nav=None,
    )
    build_site(config)
    return folder / "learn"
