"""Measures accessibility in the studio's page by the rules of WCAG 2.2 AA: contrast, names, keyboard access."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").strip()
ROLES = "button checkbox combobox link listbox option radio searchbox slider spinbutton tab textbox DisclosureTriangle"
CONTROLS = frozenset(ROLES.split())  # in Chromium's spelling


def measured(page: Any, what: str) -> Any:
    """Return the result of a method of the script."""
    return page.evaluate(f"{SCRIPT}.{what}()")


def contrasts(page: Any) -> list[dict[str, Any]]:
    """Return the contrast of everything visible, with the required contrast."""
    found: list[dict[str, Any]] = measured(page, "contrasts")
    return found


def nameless(page: Any) -> list[str]:
    """Return the roles of controls without a name in Chromium's accessibility tree."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    shown = [one for one in nodes if not one.get("ignored") and one["role"]["value"] in CONTROLS]
    assert shown
    return [one["role"]["value"] for one in shown if not one.get("name", {}).get("value", "").strip()]


def walked(page: Any, most: int = 250) -> tuple[int, list[str], list[str]]:
    """Press Tab through the page; return the number of stops, those without a focus ring, and controls not reached."""
    page.evaluate(f"() => {{ globalThis.access = {SCRIPT}; access.forget(); document.activeElement?.blur(); }}")
    count, bare = 0, []
    for _ in range(most):
        page.keyboard.press("Tab")
        now = page.evaluate("access.focused()")
        if now is None:  # focus has left the page; Tab continues at its beginning
            continue
        if now["again"]:
            break
        count += 1
        if not now["ring"]:
            bare.append(now["name"])
    return count, bare, measured(page, "missed")
