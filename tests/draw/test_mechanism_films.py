"""Films of mechanisms in textbook style: labels follow their pins, and pages move what the clip moves."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.draw.curves import Curves, Series
from linkwork.draw.labels import Label, steady_offsets, text_size
from linkwork.draw.mechanism_films import passed, svg_letter
from linkwork.errors import OptionError

pytest.importorskip("matplotlib")

TURN = np.linspace(0.0, 2.0 * math.pi, 25)


@pytest.fixture(scope="module")
def bars() -> lw.Clip:
    return lw.drive(lw.models.four_bar(), "crank", TURN, start="start", fps=12.0)


@pytest.fixture(scope="module")
def page(bars: lw.Clip, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "bars.html"
    lw.draw.mechanism(bars, trails="point", driver="crank", title="Bars & <more>", path=path)
    return path.read_text(encoding="utf-8")


def film_of(page: str) -> dict:
    found = re.search(r'id="film">(.+?)</script>', page)
    assert found
    return json.loads(found[1])


def test_a_page_moves_pins_as_the_clip_does(bars: lw.Clip, page: str) -> None:
    film = film_of(page)
    assert len(film["times"]) == len(bars)
    names = re.findall(r'data-pin="(\d+)"[^>]*>(.*?)</text>', page)
    pins = {re.sub("<.*?>", "", text): film["pins"][int(k)] for k, text in names}
    assert set(pins) == {"O2", "A", "O4", "B", "point"}
    places = {}
    for name, pin in pins.items():
        track = np.array([[1.0, 0.0, 0.0, 0.0]] * len(bars))
        if pin["body"] >= 0:
            track = np.array(film["tracks"][pin["body"]]).reshape(-1, 4)
        (c, s, x, y), (u, v) = track.T, pin["place"]
        places[name] = np.stack([c * u + s * v + x, -(-s * u + c * v + y)], axis=1)  # upwards again
    scale = np.linalg.norm(places["O4"][0] - places["O2"][0]) / 0.4
    for name, frame in (("A", "coupler"), ("B", "rocker_end"), ("point", "point")):
        at = bars.forward(frame=frame)[:, :2, 3]
        assert_allclose((places[name] - places["O2"]) / scale, at, atol=2e-4)


def test_a_page_shows_rates_and_dead_centres(bars: lw.Clip, page: str) -> None:
    film = film_of(page)
    rates = lw.drive_rates(bars, "crank")
    assert_allclose(film["series"][2], rates.of("rocker")[0], rtol=1e-4, atol=1e-6)
    assert page.count('class="dead"') == 2 * 3  # two dead centres of the rocker in each of three charts
    assert "Singular positions of <b>rocker</b>: dead-centre at crank = 36.87°" in page
    assert "<h1>Bars &amp; &lt;more&gt;</h1>" in page
    assert "http" not in re.sub(r"<meta http-equiv", "", page)


def test_polygons_turn_with_the_film(bars: lw.Clip, page: str) -> None:
    rates, film = lw.drive_rates(bars, "crank"), film_of(page)
    names = re.findall(r'class="image">(.*?)<', page)[:3]
    for polygon, rate in zip(film["polygons"], (rates.velocity, rates.acceleration), strict=True):
        images = (np.array(polygon["images"]) - polygon["pole"]) * (1.0, -1.0)
        known = {"a": rate("coupler"), "b": rate("rocker_end"), "point": rate("point")}
        vectors = np.stack([known[name][:, :2] for name in names], axis=1)
        longest = np.linalg.norm(vectors, axis=-1).max(axis=1)
        assert_allclose(images / 96.0, vectors / longest[:, None, None], atol=1e-3)
        assert polygon["longest"][0].startswith(f"longest: {longest[0]:.4g} m/s")


def test_names_keep_their_place_beside_pins_and_off_each_other() -> None:
    """Two pins on a turning wheel, a line through both: labels are beside them in every frame."""
    turns = np.linspace(0.0, 2.0 * math.pi, 9)[:-1]
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    anchors = 200.0 + np.stack([40.0 * ways, -40.0 * ways], axis=1)
    labels = [Label(text, anchors[0, k, None], clearance=6.0) for k, text in enumerate(("$A$", "$B$"))]
    offsets = steady_offsets(labels, anchors, [frame[None] for frame in anchors])
    halves = np.array([text_size(label.text, label.size) for label in labels]) / 2.0
    for frame in anchors:
        (first, second), apart = frame + offsets, halves.sum(axis=0)
        assert (np.abs(first - second) > apart).any()
    assert (np.linalg.norm(offsets, axis=1) < 60.0).all()


def test_moments_side_by_side(bars: lw.Clip, tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = lw.draw.mechanism(bars, frame=[0, 6, -1], trails="point", path=tmp_path / "strip.svg")
    assert len(page.axes) == 3
    assert [text.get_text() for text in page.texts].count("$A$") == 3
    with pytest.raises(OptionError, match="no frame 99"):
        lw.draw.mechanism(bars, frame=[0, 99])
    with pytest.raises(OptionError, match="several frames side by side are a picture without dimensions"):
        lw.draw.mechanism(bars, frame=[0, 6], dimensions=True)
    with pytest.raises(OptionError, match="driver= is for a page"):
        lw.draw.mechanism(bars, driver="crank")


def test_points_to_pass_are_marked(bars: lw.Clip, tmp_path) -> None:  # type: ignore[no-untyped-def]
    points = bars.forward(frame="point")[::6, :2, 3]
    positions = np.column_stack([points, np.linspace(0.0, 1.0, len(points))])
    for marks, strokes in ((points, 0), (positions, len(points))):
        plain, marked = lw.draw.mechanism(bars), lw.draw.mechanism(bars, marks=marks)
        assert len(marked.axes[0].patches) - len(plain.axes[0].patches) == len(points)
        assert len(marked.axes[0].lines) - len(plain.axes[0].lines) == strokes
    lw.draw.mechanism(bars, marks=positions, path=tmp_path / "marks.html")
    assert (tmp_path / "marks.html").read_text(encoding="utf-8").count('class="mark"') == len(points)
    with pytest.raises(OptionError, match=r"marks are finite points \(n, 2\), or points with angles \(n, 3\)"):
        lw.draw.mechanism(bars, marks=[1.0, 2.0])


def test_values_fit_a_page_of_any_size() -> None:
    page = lw.draw.mechanism(lw.models.klann(), "start", dimensions=True, size=(3.0, 5.0))
    page.draw_without_rendering()
    width = page.get_figwidth() * page.dpi
    assert all(text.get_window_extent().x0 >= 0.0 and text.get_window_extent().x1 <= width for text in page.texts)


def test_curves_leave_out_what_is_no_number() -> None:
    series = Series("w", np.array([0.0, 1.0, np.nan, 3.0, 1e-15]), "#000000")
    chart = Curves("Speeds", [series])
    assert chart.plain() == [[0.0, 1.0, None, 3.0, 0.0]]
    assert len(re.findall(r"M[\d.]+ [\d.]+", chart.drawn(0))) == 2
    flat = Curves("Angle", [Series("a", np.full(4, 5.0), "#000000")]).drawn(0)
    assert "nan" not in flat
    assert passed(np.array([0.0, 4.0, 8.0]), 1.0, 2.0 * math.pi) == [
        pytest.approx(0.125),
        pytest.approx((1 + 2 * math.pi) / 8),
    ]
    assert svg_letter("a<b") == "a&lt;b"
