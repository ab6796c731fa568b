"""Draw all figures of the chapter into a folder or a ZIP file, for slides and print."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import OptionError
from ..formats.atomic_files import replacing, write_text
from ..models import textbook
from .arguments import need_matplotlib, saved
from .charts import figure as draw_figure
from .live_figures import live

FORMATS = ("svg", "png", "pdf")
MOVING, PAGE = "gif", "html"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # a fixed date in ZIP files, so that their bytes are reproducible

Progress = Callable[[float, str], None]


def figures(
    path: str | os.PathLike[str], *, formats: Sequence[str] = FORMATS, progress: Progress | None = None
) -> list[str]:
    """Draw all figures of the chapter into a folder, or into one ``.zip`` file.

    Files are named ``figure-5.20.svg`` and so on; ``captions.txt`` holds the captions. GIFs are made of moving figures
    only; HTML pages are interactive live figures.

    Args:
        path: The folder, which is created if missing, or the ZIP file.
        formats: Any of ``"svg"``, ``"png"``, ``"pdf"``, ``"gif"`` and ``"html"``.
        progress: Called with the completed share of the work, from 0 to 1, and the current step.

    Returns:
        The names of the files.

    Raises:
        OptionError: If a format is unknown.
    """
    known = (*FORMATS, MOVING, PAGE)
    if isinstance(formats, str) or not formats or not set(formats) <= set(known):
        raise OptionError(f"formats are some of {', '.join(known)}; got {formats!r}.")
    need_matplotlib()
    target = Path(path)
    if target.suffix.lower() != ".zip":
        target.mkdir(parents=True, exist_ok=True)
        return _draw_all(target, formats, progress)
    with TemporaryDirectory() as folder, replacing(target) as file:
        names = _draw_all(Path(folder), formats, progress)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
            for name in names:
                pack.writestr(zipfile.ZipInfo(name, LONG_AGO), Path(folder, name).read_bytes(), zipfile.ZIP_DEFLATED)
    return names


def _draw_all(folder: Path, formats: Sequence[str], progress: Progress | None) -> list[str]:
    from .figure_films import figure_film

    names, captions = [], []
    for k, number in enumerate(textbook.FIGURES):
        if progress is not None:
            progress(k / len(textbook.FIGURES), f"figure {number}")
        figure = textbook.figure(number)
        captions.append(figure.title)
        page = draw_figure(figure) if set(formats) & set(FORMATS) else None
        for kind in formats:
            target = folder / f"figure-{number}.{kind}"
            if kind == PAGE:
                live(number, target)
            elif kind in FORMATS and page is not None:
                saved(page, target)
            elif figure.panels:
                with replacing(target) as file:
                    file.write(figure_film(figure))
            else:
                continue
            names.append(target.name)
    write_text(folder / "captions.txt", "\n".join(captions) + "\n")
    return [*names, "captions.txt"]
