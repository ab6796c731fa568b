"""The gallery: one self-contained page of moving pictures that opens from disk without a network.

A page is made of cards and does not depend on linkages. `model_cards` makes one card for each ready-made model,
`figure_cards` one for each figure of the chapter; other cards can be added.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .. import models
from ..errors import FormatError
from ..explain.mobility import degrees_of_freedom
from ..formats.atomic_files import write_text
from ..models import synthesis, textbook
from ..motion.clips import Clip
from ..motion.drive import drive
from . import charts
from .films import film as write_film
from .mechanisms import mechanism
from .player import filled_page

FPS = 12
SUBTITLE = "Kinematic linkages: build them, pose them, see them. Every piece here is made by the code below it."
CODE = """import linkwork as lw

clip = lw.models.motion("{text}")
lw.draw.film(clip, "{name}.gif", fps={fps:g})

# linkwork draw {text} -o {name}.gif"""

FIGURE_SECTION = "The chapter's figures"
FIGURE_CODE = """import linkwork as lw

figure = lw.textbook.figure("{number}")
lw.draw.figure(figure, path="figure-{number}.png")

# linkwork figure {number} -o figure-{number}{suffix}"""
BODIES_SECTION = "One motion, many bodies"
BODIES_TEXT = {
    "walk": "A human's walk, transferred to a child, a character with a skin and a robot with 29 joints.",
    "wave": "The same wave for arms of other lengths, and for three revolute joints in place of a ball.",
    "squat": "Feet stay where they are, whatever the legs are like.",
    "jump": "Into the air and down again; soles land on the floor.",
    "trot": "A dog trots ahead, and the camera with it.",
}
BODIES_CODE = """import linkwork as lw
from linkwork.draw.performances import performances

clips = dict(performances())["{name}"]
lw.draw.film(clips["{body}"], "{name}.mp4", follow=True)

# linkwork retarget walk.bvh --to character.glb -o walk.glb
# linkwork animate walk.glb -o walk.mp4 --follow"""

MECHANISMS_SECTION = "Mechanisms as in the book"
MECHANISMS = {  # frames with trails, and a caption
    "four_bar": (("point",), "Crank, coupler, rocker. Ticks on the coupler curve are at equal times."),
    "jansen_leg": (("foot",), "Eleven bars on one crank: the foot goes straight along the ground."),
    "klann": (("foot",), "A crank and two rockers: half a turn along the ground, half a turn through the air."),
    "engine": ((), "A slider-crank: the piston in its guide, hatched where it is fixed."),
    "quick_return": (("tip",), "The lever of a shaping machine: slow forward, fast back."),
    "peaucellier": (("pen",), "Eight bars draw an exactly straight line."),
    "pantograph": (("tracer", "pen"), "What one point draws, the other draws larger."),
    "scissor": (("top",), "Bars that cross in pairs rise straight up."),
}
MECHANISM_CODE = """import linkwork as lw

clip = lw.models.motion("{name}")
lw.draw.mechanism(clip, trails={trails!r}, path="{name}.gif")

# linkwork draw {name} --mechanism -o {name}.dxf"""

SYNTHESIS_POINTS = tuple((0.2, 0.05 * k) for k in range(4, 10))
SYNTHESIS_CODE = """import numpy as np
import linkwork as lw

points = [(0.2, 0.05 * k) for k in range(4, 10)]
best = lw.synthesis.path(points)[0]
turn = best.angles[0] + np.linspace(0, 2 * np.pi, 49)
clip = lw.drive(best.linkage, "crank", turn, start="start")
lw.draw.mechanism(clip, trails="point", marks=points, path="line.gif")

# linkwork synthesis path points.csv -o line.yaml"""

STILL_DOTS = 80  # pixels per inch of a still figure

Progress = Callable[[float, str], None]

PICTURES = {b"GIF8": "image/gif", b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"<": "image/svg+xml"}


@dataclass(frozen=True)
class Card:
    """One piece of the gallery.

    Args:
        title: A few words.
        text: One sentence.
        picture: A GIF, PNG, JPEG or SVG file, or its bytes.
        code: The code that made it.
        section: The heading of its section.
        facts: A few more words beside the title, such as ``"7 DOF"``.
    """

    title: str
    text: str
    picture: Path | bytes
    code: str
    section: str
    facts: str = ""


def page(cards: Iterable[Card], *, title: str = "linkwork", subtitle: str = "") -> str:
    """Return the page of cards, grouped by section, as HTML that needs no other file.

    Example:
        >>> dot = b"<svg viewBox='0 0 1 1'/>"
        >>> page([Card("Arm", "It waves.", dot, "import linkwork", "Robots")]).count("<article")
        1
    """
    sections: dict[str, list[Card]] = {}
    for card in cards:
        sections.setdefault(card.section, []).append(card)
    links = "".join(
        f'<a href="#section-{k}">{escape(name)}<b>{len(group)}</b></a>'
        for k, (name, group) in enumerate(sections.items(), start=1)
    )
    bodies = "".join(
        f'<section id="section-{k}"><h2>{escape(name)}</h2><div class="grid">{"".join(map(_article, group))}</div>'
        "</section>\n"
        for k, (name, group) in enumerate(sections.items(), start=1)
    )
    words = {"title": escape(title), "subtitle": escape(subtitle), "links": links, "sections": bodies}
    return filled_page("gallery.html", words)


def _article(card: Card) -> str:
    picture = card.picture.read_bytes() if isinstance(card.picture, Path) else card.picture
    kind, name = media_type(picture, f"card {card.title!r}"), escape(card.title)
    images = [("picture", kind, picture)]
    if kind == "image/gif":
        images = [("film", kind, picture), ("still", "image/png", first_frame(picture))]
    figure = "".join(
        f'<img class="{role}" src="data:{type_};base64,{base64.b64encode(data).decode()}" alt="{name}">'
        for role, type_, data in images
    )
    return (
        f'<article><figure>{figure}</figure><div class="words"><div class="head"><h3>{name}</h3>'
        f'<span class="facts">{escape(card.facts)}</span></div><p>{escape(card.text)}</p>'
        f'<div class="code"><button type="button">Copy</button><pre><code>{escape(card.code)}</code></pre></div>'
        "</div></article>\n"
    )


def media_type(picture: bytes, where: str) -> str:
    """Return the media type of a picture, by its first bytes."""
    for start, kind in PICTURES.items():
        if picture.lstrip().startswith(start):
            return kind
    raise FormatError(where, "its picture is not GIF, PNG, JPEG or SVG")


def first_frame(film: bytes) -> bytes:
    """Return the first frame of a GIF as PNG, for readers who prefer no motion."""
    from PIL import Image  # a dependency of matplotlib, which drew the film

    out = BytesIO()
    with Image.open(BytesIO(film)) as image:
        image.convert("RGB").quantize(64).save(out, "PNG", optimize=True)
    return out.getvalue()


def build(
    folder: str | os.PathLike[str],
    texts: Sequence[str] | None = None,
    *,
    fps: float | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write the gallery into a folder, which is created if missing.

    Args:
        folder: The folder of the page.
        texts: Models as in `models.build`, such as ``"snake:9"``; by default the example of every model, and every
            figure of the chapter.
        fps: Frames per second of the films; `FPS` by default.
        progress: Called with the fraction of the work done, from 0 to 1, and the current step.

    Returns:
        The page, ``index.html``. It is written last, completely or not at all.
    """
    path = Path(folder, "index.html")
    for text in texts or ():
        models.build(text)  # raises for a wrong name before anything is drawn
    path.parent.mkdir(parents=True, exist_ok=True)
    if texts is not None:
        cards: Iterable[Card] = model_cards(texts, fps=fps, progress=progress)
    else:
        counts = (len(models.MODELS), len(MECHANISMS), len(BODIES_TEXT), len(textbook.FIGURES))
        shares = [0.0, *(done / sum(counts) for done in accumulate(counts))]
        told = [_stretch(progress, start, end) for start, end in pairwise(shares)]
        makers = (model_cards, mechanism_cards, body_cards, figure_cards)
        cards = chain.from_iterable(make(fps=fps, progress=tell) for make, tell in zip(makers, told, strict=True))
    write_text(path, page(cards, subtitle=SUBTITLE))
    return path


def _stretch(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Return a progress function for a part of the work."""
    return None if progress is None else lambda done, what: progress(start + (end - start) * done, what)


def model_cards(
    texts: Sequence[str] | None = None, *, fps: float | None = None, progress: Progress | None = None
) -> Iterator[Card]:
    """Yield a card for each ready-made model, with a film of its motion; arguments as in `build`."""
    fps = FPS if fps is None else fps
    texts = [model.example for model in models.MODELS.values()] if texts is None else texts
    clips = [models.motion(text) for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        for k, (text, clip) in enumerate(zip(texts, clips, strict=True)):
            name, linkage = clip.linkage.name, clip.linkage
            film = Path(folder, f"{name}.gif")

            def at(done: int, total: int, k: int = k, name: str = name) -> None:
                if progress is not None:
                    progress((k + done / total) / len(texts), name)

            write_film(clip, film, fps=fps, progress=at)
            model = models.MODELS[name]
            yield Card(
                title=name.upper() if name[-1].isdigit() else name.replace("_", " ").capitalize(),
                text=model.description,
                picture=film.read_bytes(),
                code=CODE.format(text=text, name=name, fps=fps),
                section=models.CATEGORIES[model.category],
                facts=f"{degrees_of_freedom(linkage)} DOF, {len(linkage.links)} links",
            )


def mechanism_cards(*, fps: float | None = None, progress: Progress | None = None) -> Iterator[Card]:
    """Yield a card for each of some mechanisms, with a film in textbook style; arguments as in `build`."""
    count = len(MECHANISMS) + 1
    for k, (name, (trails, text)) in enumerate(MECHANISMS.items()):
        clip = models.motion(name)
        loops = len(clip.linkage.loops)
        yield Card(
            title=name.replace("_", " ").capitalize(),
            text=text,
            picture=_mechanism_film(clip, trails, fps=fps),
            code=MECHANISM_CODE.format(name=name, trails=list(trails)),
            section=MECHANISMS_SECTION,
            facts=f"{degrees_of_freedom(clip.linkage)} DOF, {loops} {'loop' if loops == 1 else 'loops'}",
        )
        if progress is not None:
            progress((k + 1) / count, name)
    best = synthesis.path(SYNTHESIS_POINTS)[0]
    turn = best.angles[0] + np.linspace(0.0, 2.0 * np.pi, 49)
    clip = drive(best.linkage, "crank", turn, start="start")
    yield Card(
        title="Synthesis",
        text="Six points on a line were given; the four-bar was found.",
        picture=_mechanism_film(clip, ("point",), fps=fps, marks=SYNTHESIS_POINTS),
        code=SYNTHESIS_CODE,
        section=MECHANISMS_SECTION,
        facts=best.kind,
    )
    if progress is not None:
        progress(1.0, "synthesis")


def _mechanism_film(clip: Clip, trails: Sequence[str], *, fps: float | None, marks: Any = None) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder, "mechanism.gif")
        mechanism(clip, trails=trails, marks=marks, fps=FPS if fps is None else fps, path=film)
        return film.read_bytes()


def body_cards(*, fps: float | None = None, progress: Progress | None = None) -> Iterator[Card]:
    """Yield a card for each of five motions, with a film of the bodies that make it; arguments as in `build`."""
    from .beside import beside
    from .performances import films, performances

    for k, (name, clips) in enumerate(performances()):

        def at(share: float, k: int = k, name: str = name) -> None:
            if progress is not None:
                progress((k + share) / len(BODIES_TEXT), name)

        made = dict(films(clips, fps=FPS if fps is None else fps, progress=at))
        yield Card(
            title=name.capitalize(),
            text=BODIES_TEXT[name],
            picture=beside(list(made.values()), list(made)),
            code=BODIES_CODE.format(name=name, body=next(iter(made))),
            section=BODIES_SECTION,
            facts=" | ".join(made),
        )


def figure_cards(*, fps: float | None = None, progress: Progress | None = None) -> Iterator[Card]:
    """Yield a card for each figure of the chapter: a film of its rows, or its picture; arguments as in `build`."""
    from .figure_films import figure_film

    for k, number in enumerate(textbook.FIGURES):
        figure = textbook.figure(number)
        moves = not figure.plates
        yield Card(
            title=f"Figure {number}",
            text=figure.caption,
            picture=figure_film(figure, fps=fps) if moves else _still(figure),
            code=FIGURE_CODE.format(number=number, suffix=".gif" if moves else ".svg"),
            section=FIGURE_SECTION,
            facts=" | ".join(dict.fromkeys(panel.method for panel in figure.panels)),
        )
        if progress is not None:
            progress((k + 1) / len(textbook.FIGURES), f"figure {number}")


def _still(figure: textbook.Figure) -> bytes:
    """Return a figure as PNG, drawn at high resolution and reduced, which avoids seams between faces."""
    from PIL import Image  # a dependency of matplotlib

    fine, small = BytesIO(), BytesIO()
    charts.figure(figure).savefig(fine, format="png", dpi=2 * STILL_DOTS)
    with Image.open(fine) as image:
        half = image.convert("RGB").resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS)
    half.quantize(128, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()
