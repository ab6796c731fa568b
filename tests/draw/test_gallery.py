"""The gallery: a self-contained page with one card for each model, made by the code that it shows."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from PIL import Image

import linkwork as lw
from linkwork.draw import gallery
from linkwork.draw.beside import BAND, beside
from linkwork.draw.figure_films import figure_film
from linkwork.errors import FormatError, ModelNotFoundError
from linkwork.models import CATEGORIES, MODELS
from linkwork.models.textbook import FIGURES

SLOW = 2  # frames per second: enough to show motion
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'/>"
HOSTILE = "<script>alert('1')</script>\"&amp;"


class Page(HTMLParser):
    """Reads a page and checks that its elements are closed in order."""

    VOID = frozenset({"meta", "input", "img", "path", "circle"})

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def every(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def words(self, tag):
        return [data for name, data in self.texts if name == tag]


def decoded(address):
    kind, _, data = address.removeprefix("data:").partition(";base64,")
    return kind, base64.b64decode(data, validate=True)


@pytest.fixture(scope="module")
def cards():
    return list(gallery.model_cards(fps=SLOW))


@pytest.fixture(scope="module")
def page(cards):
    return Page(gallery.page(cards))


def card(**changes):
    fields = {"title": "Arm", "text": "It waves.", "picture": SVG, "code": "import linkwork", "section": "Robots"}
    return gallery.Card(**{**fields, **changes})


@pytest.mark.slow
def test_there_is_one_card_for_each_model(cards, page):
    assert len(cards) == len(MODELS) == len(page.every("article"))
    assert page.words("h3") == [card.title for card in cards]
    assert page.words("code")[: len(cards)] == [card.code for card in cards]
    assert {model.description for model in MODELS.values()} <= set(page.words("p"))


def test_models_are_grouped_by_category(page):
    assert page.words("h2") == [CATEGORIES[name] for name in dict.fromkeys(m.category for m in MODELS.values())]
    targets = [link["href"].removeprefix("#") for link in page.every("a")]
    assert targets == [section["id"] for section in page.every("section")]


def test_cards_tell_the_degrees_of_freedom(cards):
    for card, model in zip(cards, MODELS.values(), strict=True):
        assert card.facts.startswith(f"{lw.degrees_of_freedom(lw.models.build(model.example))} DOF,")


def test_pictures_decode_and_move(page):
    films, stills = ([img for img in page.every("img") if img["class"] == kind] for kind in ("film", "still"))
    assert len(films) == len(stills) == len(MODELS)
    for film, still in zip(films, stills, strict=True):
        (kind, data), (still_kind, still_data) = decoded(film["src"]), decoded(still["src"])
        assert (kind, still_kind) == ("image/gif", "image/png")
        with Image.open(BytesIO(data)) as moving, Image.open(BytesIO(still_data)) as frame:
            assert moving.n_frames >= 4
            assert moving.size == frame.size
            frames = []
            for k in range(moving.n_frames):
                moving.seek(k)
                frames.append(moving.convert("RGB").tobytes())
        assert len(set(frames)) > 1, film["alt"]


def test_the_page_asks_nothing_of_the_network(cards):
    text = gallery.page(cards)
    page = Page(text)
    assert page.every("link") == []
    for _, attributes in page.elements:
        for name, value in attributes.items():
            if name in ("src", "href", "srcset", "action", "poster", "data"):
                assert value.startswith(("data:image/", "#")), value[:60]
    rest = re.sub(r"data:image/[^\"]*", "", text)
    assert re.findall(r"\w*://|url\(|@import|http(?!-equiv)", rest) == []
    policy = next(meta["content"] for meta in page.every("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; img-src data:;")


def runs(card):
    exec(compile(card.code, card.title, "exec"), {})


def test_every_card_is_made_by_the_code_it_shows(monkeypatch):
    """The code makes the film of the card: same motion, name and number of frames."""
    made, shown = [], []

    def kept(films, clip, path, fps):
        films.append((Path(path).name, fps, clip.linkage, clip.times.tolist(), clip.poses.tolist()))

    def film_of_card(clip, path, *, fps, progress):
        path.write_bytes(SVG)
        kept(made, clip, path, fps)

    monkeypatch.setattr(gallery, "write_film", film_of_card)
    monkeypatch.setattr(lw.draw, "film", lambda clip, path, fps: kept(shown, clip, path, fps))
    for card, (name, model) in zip(gallery.model_cards(fps=SLOW), MODELS.items(), strict=True):
        runs(card)
        assert f"# linkwork draw {model.example} -o {name}.gif" in card.code
    assert shown == made
    assert [name for name, *_ in made] == [f"{name}.gif" for name in MODELS]


@pytest.mark.parametrize("name", ["two_link", "panda"])  # in the plane and in space
def test_the_code_of_a_card_gives_its_picture(cards, name, tmp_path, monkeypatch):
    card = cards[list(MODELS).index(name)]
    monkeypatch.chdir(tmp_path)
    runs(card)
    assert (tmp_path / f"{name}.gif").read_bytes() == card.picture


def test_every_figure_of_the_chapter_has_a_card(tmp_path, monkeypatch):
    few = {number: FIGURES[number] for number in ("5.23", "5.8", "5.14", "5.21")}  # test_diagrams draws all
    monkeypatch.setattr("linkwork.models.textbook.FIGURES", few)
    monkeypatch.chdir(tmp_path)
    cards = list(gallery.figure_cards(fps=SLOW))
    assert [card.title for card in cards] == [f"Figure {number}" for number in few]
    assert {card.section for card in cards} == {gallery.FIGURE_SECTION}
    runs(cards[0])
    assert (tmp_path / "figure-5.23.png").exists()
    drawn = []
    monkeypatch.setattr(lw.draw, "figure", lambda figure, path: drawn.append((figure.number, path)))
    for card, (number, entry) in zip(cards, few.items(), strict=True):
        assert card.text == entry.caption
        assert f"# linkwork figure {number} -o" in card.code
        runs(card)
    assert drawn == [(number, f"figure-{number}.png") for number in few]
    assert cards[0].picture == figure_film(lw.textbook.figure("5.23"), fps=SLOW)


def test_films_stand_side_by_side_in_step():
    def film(shades, durations):
        images, out = [Image.new("RGB", (40, 30), (shade,) * 3) for shade in shades], BytesIO()
        images[0].save(out, "GIF", save_all=True, append_images=images[1:], duration=durations)
        return out.getvalue()

    whole = beside([film([0, 200], [100, 300]), film([0, 100, 200], [200, 100, 100])], ["a", "b"])
    seen = []
    with Image.open(BytesIO(whole)) as image:
        assert image.size == (80, 30 + BAND)
        for k in range(image.n_frames):
            image.seek(k)
            pixels = image.convert("RGB")
            left, right = (pixels.getpixel((x, BAND + 15))[0] for x in (20, 60))
            seen.append((image.info["duration"], left, right))
    assert seen == [(100, 0, 0), (100, 200, 0), (100, 200, 100), (100, 200, 200)]


def test_words_are_escaped():
    page = Page(gallery.page([card(title=HOSTILE, text=HOSTILE, code=HOSTILE, section=HOSTILE, facts=HOSTILE)]))
    assert len(page.every("script")) == 1
    for tag in ("h3", "p", "h2", "span"):
        assert HOSTILE in page.words(tag)
    assert page.every("img")[0]["alt"] == HOSTILE


def test_mechanisms_are_filmed_as_in_the_book(monkeypatch):
    assert set(gallery.MECHANISMS) <= set(MODELS)
    monkeypatch.setattr(gallery, "MECHANISMS", {name: gallery.MECHANISMS[name] for name in ("four_bar", "pantograph")})
    cards = list(gallery.mechanism_cards(fps=SLOW))
    assert [card.title for card in cards[:-1]] == [name.replace("_", " ").capitalize() for name in gallery.MECHANISMS]
    assert (cards[-1].title, cards[-1].facts) == ("Synthesis", "crank-rocker")
    assert all(card.picture.startswith(b"GIF8") for card in cards)


def test_cards_stand_under_their_section_in_the_order_given():
    cards = [card(title="a", section="X"), card(title="b", section="Y"), card(title="c", section="X")]
    page = Page(gallery.page(cards, title="Title", subtitle="More"))
    assert page.words("h2") == ["X", "Y"]
    assert page.words("h3") == ["a", "c", "b"]
    assert page.words("h1") == ["Title"]
    assert "More" in page.words("p")


def png():
    out = BytesIO()
    Image.new("RGB", (2, 2)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("picture", "kind"),
    [(SVG, "image/svg+xml"), (b"<?xml version='1.0'?>" + SVG, "image/svg+xml"), (png(), "image/png")],
)
def test_a_picture_may_be_still_and_may_be_a_file(picture, kind, tmp_path):
    path = tmp_path / "picture"
    path.write_bytes(picture)
    for given in (picture, path):
        (image,) = Page(gallery.page([card(picture=given)])).every("img")
        assert decoded(image["src"]) == (kind, picture)


def test_what_is_no_picture_is_refused():
    with pytest.raises(FormatError, match="card 'Arm': its picture is not"):
        gallery.page([card(picture=b"hello")])


def test_build_writes_one_page_and_tells_how_far_it_is(tmp_path):
    seen = []
    path = gallery.build(tmp_path / "a" / "b", ["two_link", "planar:4"], fps=SLOW, progress=lambda *x: seen.append(x))
    assert path == tmp_path / "a" / "b" / "index.html"
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]
    assert Page(path.read_text(encoding="utf-8")).words("h3") == ["Two link", "Planar"]
    assert [name for _, name in seen] == sorted((name for _, name in seen), key=["two_link", "planar"].index)
    shares = [done for done, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_build_that_fails_leaves_the_old_page(tmp_path, monkeypatch):
    page = tmp_path / "index.html"
    page.write_text("before", encoding="utf-8")
    with pytest.raises(ModelNotFoundError):
        gallery.build(tmp_path, ["two_link", "no_such_model"])
    monkeypatch.setattr(gallery, "first_frame", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gallery.build(tmp_path, ["two_link"], fps=SLOW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["index.html"]
    assert page.read_text(encoding="utf-8") == "before"


def test_a_wrong_name_makes_no_folder(tmp_path):
    with pytest.raises(ModelNotFoundError):
        gallery.build(tmp_path / "new", ["no_such_model"])
    assert list(tmp_path.iterdir()) == []
