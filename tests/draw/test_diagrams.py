"""Diagrams: every figure in every format, labels without overlap, trees without overlap."""

from __future__ import annotations

import itertools
import re
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import linkwork as lw
from linkwork.draw import live_figures, marks, trees
from linkwork.draw.labels import text_size
from linkwork.draw.live_chapter import LIVE, PAGES
from linkwork.errors import OptionError
from linkwork.models.textbook import FIGURES
from linkwork.models.textbook.diagrams import Tree, TreeNode, hierarchy

SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
DIAGRAMS = [number for number, entry in FIGURES.items() if entry.plates is not None]


def overlap(a, b):
    return bool((np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) > 0.5).all())


@pytest.fixture(scope="module")
def drawn():
    """Every diagram on its page, with the boxes of its labels."""
    boxes, original = {}, marks.write_labels

    def noted(page, *words):
        found = original(page, *words)
        boxes.setdefault(id(page), []).append(found)
        return found

    marks.write_labels = noted
    try:
        pages = {number: lw.draw.figure(lw.textbook.figure(number)) for number in DIAGRAMS}
    finally:
        marks.write_labels = original
    return {number: (page, boxes.get(id(page), [])) for number, page in pages.items()}


@pytest.mark.parametrize("number", DIAGRAMS)
def test_labels_stand_apart_and_on_the_page(drawn, number):
    page, groups = drawn[number]
    width, height = page.get_size_inches() * 72.0
    found = np.concatenate([np.zeros((0, 4)), *groups])
    for first, second in itertools.combinations(found, 2):
        assert not overlap(first, second)
    assert (found[:, :2] >= 0.0).all()
    assert (found[:, 2:] <= (width, height)).all()
    assert width <= 12.5 * 72.0
    assert page.texts[0].get_text().replace("\n", " ").startswith(f"Figure {number}.")


@pytest.mark.parametrize("number", DIAGRAMS)
def test_letters_can_be_read_from_the_last_row(drawn, number):
    page, _ = drawn[number]
    slide = 13.33 / max(page.get_size_inches()[0], page.get_size_inches()[1] * 13.33 / 7.5)
    assert min(text.get_fontsize() for text in page.texts) * slide >= 10.5


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_diagrams_are_saved_in_every_format(tmp_path, suffix):
    for number in ("5.8", "5.16"):
        target = tmp_path / f"figure-{number}.{suffix}"
        lw.draw.figure(lw.textbook.figure(number), path=target)
        data = target.read_bytes()
        assert data.startswith(SIGNATURES[suffix])
        if suffix == "pdf":
            assert b"/FontFile2" in data
        if suffix == "svg":
            assert b"<text" not in data  # letters are paths


def test_all_figures_as_a_zip_and_in_a_folder(tmp_path, monkeypatch):
    few = {number: FIGURES[number] for number in ("5.8", "5.23")}
    monkeypatch.setattr("linkwork.models.textbook.FIGURES", few)
    names = lw.draw.figures(tmp_path / "all.zip", formats=["svg", "gif"])
    assert names == ["figure-5.8.svg", "figure-5.23.svg", "figure-5.23.gif", "captions.txt"]
    with zipfile.ZipFile(tmp_path / "all.zip") as pack:
        assert pack.namelist() == names
        assert pack.read("figure-5.23.gif").startswith(b"GIF8")
        assert pack.read("captions.txt").decode().splitlines()[1] == lw.textbook.figure("5.23").title
    lw.draw.figures(tmp_path / "new" / "folder", formats=["png"])
    assert (tmp_path / "new" / "folder" / "figure-5.8.png").exists()
    with pytest.raises(OptionError, match="svg, png, pdf, gif, html"):
        lw.draw.figures(tmp_path, formats=["bmp"])


def test_every_figure_has_a_live_one(tmp_path):
    assert {*LIVE, *PAGES} == set(FIGURES)
    assert {name for name, _ in LIVE.values()} <= set(live_figures.names())
    page = lw.draw.live("5.21")
    assert f"Figure 5.21. {FIGURES['5.21'].caption}" in page.html
    assert '<linkwork-figure name="follow" method="damped" damping="5" goal="-35.0, 5.0">' in page.html
    lw.draw.figures(tmp_path, formats=["html"])
    sizes = [path.stat().st_size for path in tmp_path.glob("figure-5.*.html")]
    assert len(sizes) == 25
    assert max(sizes) < 1e6


# Trees


def random_tree(seed, count):
    rng = np.random.default_rng(seed)
    nodes = [TreeNode("n" * int(rng.integers(1, 14)))]
    for k in range(1, count):
        nodes.append(
            TreeNode("n" * int(rng.integers(1, 14)), int(rng.integers(0, k)), ("arc",) * int(rng.integers(0, 3)))
        )
    return Tree("random", tuple(nodes))


@pytest.mark.parametrize("seed", range(8))
def test_nodes_of_a_tree_do_not_overlap_and_parents_stand_over_their_children(seed):
    tree = random_tree(seed, 40)
    found = trees.layout(tree, trees.estimate)
    low, high = found.boxes[:, :2] - found.boxes[:, 2:] / 2.0, found.boxes[:, :2] + found.boxes[:, 2:] / 2.0
    corners = np.column_stack([low, high])
    for first, second in itertools.combinations(corners, 2):
        assert not overlap(first, second)
    assert low.min() >= -1e-9
    assert high[:, 0].max() <= found.width + 1e-9
    for k, node in enumerate(tree.nodes):
        below = [found.boxes[c, 0] for c, child in enumerate(tree.nodes) if child.parent == k]
        if below:
            assert found.boxes[k, 0] == pytest.approx((below[0] + below[-1]) / 2.0)
            assert found.boxes[k, 1] > max(found.boxes[c, 1] for c, n in enumerate(tree.nodes) if n.parent == k)
        assert node.parent < k


def test_the_tree_of_a_linkage_has_all_its_links():
    arm = lw.models.panda()
    page = lw.draw.tree(arm, title="Panda")
    written = {text.get_text() for text in page.texts}
    assert {"Panda", *arm.links} <= written
    with pytest.raises(OptionError, match="subtree"):
        lw.draw.tree(lw.models.planar(500))


def test_a_tree_as_svg_is_well_formed_and_safe():
    evil = "<script>alert(1)</script>\"'&"
    b = lw.Builder("evil", base=evil)
    b.revolute("a&b", "child")
    text = trees.svg(hierarchy(b.build()))
    root = ElementTree.fromstring(text)
    assert "<script>" not in text
    assert evil in "".join(root.itertext())
    assert len(root.findall("{http://www.w3.org/2000/svg}rect")) == 2
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    figure = trees.svg(lw.textbook.figure("5.12").plates[0][0])
    assert "θ" in figure
    assert "$" not in figure
    assert "\\" not in figure


def test_a_label_in_two_lines_is_as_wide_as_the_longer():
    assert text_size("left\nupper arm", 14.0)[0] == text_size("upper arm", 14.0)[0]
    assert text_size("left\nupper arm", 14.0)[1] > 2.0 * 14.0
