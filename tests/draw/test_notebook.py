"""Displays of objects in notebooks: complete, small, escaped, and readable on dark and light pages."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw import clip_cells, notebook
from linkwork.draw.embedding import Page

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&'
VOID = {"img", "br", "hr", "meta", "input", "line", "circle", "rect", "polygon", "polyline", "path"}


class Reader(HTMLParser):
    """Parses HTML strictly: all elements are closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def arm() -> lw.Linkage:
    return lw.models.planar([2, 1])


def hostile() -> lw.Linkage:
    made = lw.Builder(HOSTILE).revolute(f"j{HOSTILE}", f"hand{HOSTILE}", axis="z", limits=(-1, 1))
    return made.frame(f"tip{HOSTILE}", at=(1, 0, 0)).build()


def solved(linkage: lw.Linkage) -> lw.Solution:
    return lw.solve(linkage, lw.Reach(linkage.frames[-1], position=(0.8, 0.6)))


def shown_things(linkage: lw.Linkage) -> dict[str, object]:
    goal = lw.Reach(linkage.frames[-1], position=(0.8, 0.6))
    far = lw.solve(linkage, lw.Reach(linkage.frames[-1], position=(9, 0)))
    clip = lw.interpolate(linkage, [(0, linkage.neutral()), (1, linkage.neutral() + 0.5)], fps=10)
    return {
        "linkage": linkage,
        "table": linkage.table,
        "frames": linkage.forward(linkage.neutral()),
        "many frames": linkage.forward(np.zeros((3, linkage.nq))),
        "dh": linkage.as_dh(),
        "solution": lw.solve(linkage, goal),
        "failure": far,
        "several": lw.solve(linkage, goal, start=np.zeros((3, linkage.nq))),
        "branches": lw.solve_all(linkage, goal),
        "no branches": lw.solve_all(linkage, lw.Reach(linkage.frames[-1], position=(9, 0))),
        "race": lw.race(linkage, goal, methods=("inverse", "damped")),
        "refused": lw.race(linkage, goal, methods=("analytic", "inverse"))[0],
        "clip": clip,
        "report": clip.report(),
        "jumps": lw.Clip(linkage, [0, 0.01], [linkage.neutral(), linkage.neutral() + 0.9]).report(),
        "diagnosis": lw.diagnose(far),
        "batch": lw.solve_batch(linkage, linkage.frames[-1], np.eye(4)[None]),
        "body batch": lw.solve_batch(linkage, {linkage.frames[-1]: np.eye(4)[None]}),
        "page": Page(f"<p>{HOSTILE}</p>", HOSTILE),
    }


KINDS = [
    "linkage",
    "table",
    "dh",
    "solution",
    "failure",
    "several",
    "race",
    "refused",
    "clip",
    "report",
    "jumps",
    "diagnosis",
    "batch",
    "body batch",
    "page",
]
KINDS += ["branches", "no branches", "frames", "many frames"]


@pytest.fixture(scope="module")
def plain() -> dict[str, object]:
    return shown_things(arm())


@pytest.fixture(scope="module")
def wicked() -> dict[str, object]:
    return shown_things(hostile())


def test_every_kind_is_tried(plain):
    assert set(KINDS) == set(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_shows_itself_in_whole_html_with_inline_style(kind, plain):
    html = plain[kind]._repr_html_()
    reader = read(html)
    assert len(html) < (200_000 if kind == "clip" else 60_000)
    assert not {tag for tag, _ in reader.tags} & {"script", "style", "link", "img"}
    assert not [attributes for _, attributes in reader.tags if "class" in attributes or "id" in attributes]
    assert not re.search(r"(?<!-)color:\s*(#000|black)", html)  # text inherits the notebook's colour


@pytest.mark.parametrize("kind", KINDS)
def test_names_from_files_are_escaped(kind, wicked):
    reader = read(wicked[kind]._repr_html_())
    assert not {tag for tag, _ in reader.tags} & {"script", "img"}
    assert not [name for _, attributes in reader.tags for name in attributes if name.startswith("on")]
    frames = [attributes for tag, attributes in reader.tags if tag == "iframe"]
    for frame in frames:  # embedded pages have scripts, and no access to the notebook
        assert frame["sandbox"] == "allow-scripts allow-downloads"
    if kind == "clip":
        assert HOSTILE not in frames[0]["srcdoc"]
    if kind in ("linkage", "table", "dh", "solution"):
        assert HOSTILE in reader.text


def test_a_linkage_shows_its_tree_limits_frames_and_poses():
    text = read(lw.models.panda()._repr_html_()).text
    for word in (
        "10 links, 9 joints, 7 degrees of freedom",
        "panda_joint4",
        "revolute",
        "tip (on panda_hand)",
        "ready",
    ):
        assert word in text


def test_a_solution_shows_how_it_ended_and_every_value():
    solution = solved(arm())
    text = read(solution._repr_html_()).text
    assert solution.reason in text
    for value in solution.q.tolist():
        assert f"{value:.4f} rad" in text
        assert f"{math.degrees(value):.4g}°" in text


def test_frames_show_where_they_are():
    text = read(arm().forward([math.pi / 2, 0.0])._repr_html_()).text
    for word in ("4 frames in the world", "tip", "3.0000", "0.7071"):
        assert word in text


def test_a_dh_table_marks_what_each_joint_changes():
    table = lw.DHTable((lw.DHRow(math.pi / 2, 0.3, 0.0, 0.0), lw.DHRow(0.0, 0.1, 0.2, -math.pi, "P")))
    text = read(table._repr_html_()).text
    for word in ("q1 + 90°", "0.3 m", "q2 + 0.1 m", "0.2 m", "-180°"):
        assert word in text


def test_long_tables_are_cut_and_say_so():
    snake = lw.models.snake(100)
    text = read(snake._repr_html_()).text
    assert "more rows" in text
    assert len(snake._repr_html_()) < 100_000


def test_a_clip_plays_in_a_frame():
    clip = lw.interpolate(arm(), [(0, [0, 0]), (1, [1, 1])])
    (frame,) = [attributes for tag, attributes in read(clip._repr_html_()).tags if tag == "iframe"]
    assert "<linkwork-film" in frame["srcdoc"]


def test_a_clip_that_is_too_large_shows_stills(monkeypatch):
    monkeypatch.setattr(clip_cells, "MOST_BYTES", 1000)
    reader = read(lw.models.motion("human")._repr_html_())
    assert [tag for tag, _ in reader.tags].count("svg") == clip_cells.PANELS
    assert "lw.draw.film" in reader.text


def test_a_clip_with_large_meshes_plays_without_them(tmp_path):
    mesh = tmp_path / "large.stl"
    mesh.write_bytes(bytes(clip_cells.MOST_BYTES + 1))
    linkage = arm().replace(links={"link1": {"visuals": (lw.Visual(lw.Mesh(str(mesh), file=str(mesh))),)}})
    reader = read(lw.interpolate(linkage, [(0, [0, 0]), (1, [1, 1])])._repr_html_())
    assert [tag for tag, _ in reader.tags].count("iframe") == 1
    assert "too large to play here" in reader.text


def test_a_long_clip_has_fewer_frames_a_second():
    poses = np.zeros((6001, 2))
    clip = lw.Clip(arm(), np.linspace(0.0, 100.0, 6001), poses)
    assert len(clip._repr_html_()) < 400_000


def test_a_page_is_saved_as_it_is(tmp_path):
    page = Page("<p>ü</p>", "greeting")
    assert page.save(tmp_path / "page.html").read_text(encoding="utf-8") == "<p>ü</p>"
    assert repr(page) == "<Page 'greeting': 9 bytes; save(\"page.html\") writes it>"
    with pytest.raises(lw.errors.FormatError, match=r"a page is saved as \.html"):
        page.save(tmp_path / "page.pdf")


def test_what_has_no_card_shows_its_text():
    assert notebook.shown("<b>") == "<code>&#x27;&lt;b&gt;&#x27;</code>"
