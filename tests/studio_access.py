"""What everyone can read, name and reach in the studio's page, measured in the page by the rules of WCAG 2.2 AA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").strip()
ROLES = "button checkbox combobox link listbox option radio searchbox slider spinbutton tab textbox DisclosureTriangle"
CONTROLS = frozenset(ROLES.split())  # as Chromium spells them


def measured(page: Any, what: str) -> Any:
    """Return what a method of the script says."""
    return page.evaluate(f"{SCRIPT}.{what}()")


def contrasts(page: Any) -> list[dict[str, Any]]:
    """Return the contrast of everything that is seen now, with the least that it must have."""
    found: list[dict[str, Any]] = measured(page, "contrasts")
    return found


def nameless(page: Any) -> list[str]:
    """Return the roles of controls without a name, as Chromium tells them to a screen reader."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    shown = [one for one in nodes if not one.get("ignored") and one["role"]["value"] in CONTROLS]
    assert shown
    return [one["role"]["value"] for one in shown if not one.get("name", {}).get("value", "").strip()]


def walked(page: Any, most: int = 250) -> tuple[int, list[str], list[str]]:
    """Press Tab until all was visited; return how many there were, which have no ring, and which were not reached."""
    page.evaluate(f"() => {{ globalThis.access = {SCRIPT}; access.forget(); document.activeElement?.blur(); }}")
    count, bare = 0, []
    for _ in range(most):
        page.keyboard.press("Tab")
        now = page.evaluate("access.focused()")
        if now is None:  # beyond the page, from which Tab comes back to its beginning
            continue
        if now["again"]:
            break
        count += 1
        if not now["ring"]:
            bare.append(now["name"])
    return count, bare, measured(page, "missed")
