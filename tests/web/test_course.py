"""Every lesson of the course in a browser: from disk, offline, with moved figures and answered exercises."""

from __future__ import annotations

import json
import math

import pytest

import course_site
from linkwork.models import lessons
from live_pages import quiet_page, wait_for

pytest.importorskip("mkdocs", reason="the documentation's builder is not installed")
LESSONS = lessons.all_lessons()
READY = "Promise.all([...document.querySelectorAll('linkwork-figure')].map((figure) => figure.ready))"
STATES = "[...document.querySelectorAll('linkwork-figure')].map((figure) => JSON.stringify(figure.state()))"
CHANGED = f"before => {STATES}.every((state, k) => state !== before[k])"
NARROW = 360  # pixels, a small phone


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages of the course."""
    return course_site.build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def reader(browser):
    """One page that opens all of them; any error fails the test."""
    with quiet_page(browser, width=1000, height=800) as page:
        yield page


def numbers(value) -> list[float]:
    """Return all numbers of a nested state."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [x for part in value for x in numbers(part)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def move(page, figure) -> None:
    """Drag the first handle of a figure, or else move its first slider or press a button."""
    handle, slider = figure.locator(".goal .touch").first, figure.locator("input[type=range]").first
    figure.scroll_into_view_if_needed()
    if handle.count():
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 24, y - 18, steps=2)
        page.mouse.up()
    elif slider.count():
        slider.focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
    else:
        figure.locator("button:not([aria-pressed=true])").first.click()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.page)
def test_a_lesson_is_alive(site, reader, lesson):
    reader.set_viewport_size({"width": 1000, "height": 800})
    reader.goto((site / lesson.page).with_suffix(".html").as_uri())
    reader.evaluate(READY)
    figures = reader.locator("linkwork-figure")
    assert [figures.nth(k).get_attribute("name") for k in range(figures.count())][: len(lesson.figures)] == list(
        lesson.figures
    )
    before = reader.evaluate(STATES)
    for k in range(figures.count()):
        move(reader, figures.nth(k))
    wait_for(reader, CHANGED, before)
    for now in reader.evaluate(STATES):
        assert all(math.isfinite(x) for x in numbers(json.loads(now)))
    assert reader.locator("math").count()
    text = reader.locator("article").inner_text()
    assert "$" not in text.replace("$ linkwork", "")
    answer_exercises(reader, lesson)
    reader.set_viewport_size({"width": NARROW, "height": 700})
    assert reader.evaluate("document.documentElement.scrollWidth") <= NARROW


def answer_exercises(page, lesson) -> None:
    """Type a wrong and a right answer into each exercise."""
    boxes = page.locator("linkwork-exercise")
    assert boxes.count() == len(lesson.exercises) == 3
    for k, exercise in enumerate(lesson.exercises):
        right = exercise.values()
        for values, word in (([x + 3 * exercise.tolerance for x in right], "Not yet"), (right, "Right")):
            boxes.nth(k).locator("input").fill(", ".join(f"{x:.12g}" for x in values))
            boxes.nth(k).get_by_role("button", name="Check").click()
            assert boxes.nth(k).locator(".say").inner_text().startswith(word), f"{lesson.number}.{k + 1}: {values}"


def test_the_search_works_from_disk(site, reader):
    reader.set_viewport_size({"width": 1300, "height": 800})
    reader.goto((site / "index.html").as_uri())
    reader.locator("input.md-search__input").click()
    reader.keyboard.type("gimbal")
    reader.locator(".md-search-result__link").first.wait_for(timeout=20_000)
    assert "quaternions" in reader.locator(".md-search-result__list").inner_text()


def test_the_first_page_lists_all_lessons(site, reader):
    reader.goto((site / "index.html").as_uri())
    text = reader.locator("article table").first.inner_text()
    assert all(lesson.title in text for lesson in LESSONS)


def test_units_may_be_typed(site, reader):
    reader.goto((site / "04-rotations.html").as_uri())
    box = reader.locator("linkwork-exercise").nth(1)
    typed = {"0.523599 rad": "Right", "30°": "Right", "thirty": "Please type", "1, 2": "Please type"}
    for text, word in typed.items():
        box.locator("input").fill(text)
        box.get_by_role("button", name="Check").click()
        assert box.locator(".say").inner_text().startswith(word)
