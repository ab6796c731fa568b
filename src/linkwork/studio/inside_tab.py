"""The tab that looks into a solve: its iterations one by one, what the equations saw, and what is left free."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..errors import GoalError
from ..explain.swivel import swivel
from ..transforms import FloatArray, read_only
from .inspection import Moment, free_directions, moments, swing
from .plots import note
from .stage import LinkageView, ghost

if TYPE_CHECKING:
    from .app import Studio

GHOST = (112, 72, 232)
MOST_COLUMNS, MOST_ROWS = 14, 12
SWING = 1.5  # radians or metres to either side


class InsideTab:
    """Iterations, matrices, and the slider that swings what is free."""

    def __init__(self, studio: Studio) -> None:
        self.studio, gui = studio, studio.gui
        self._moments: list[Moment] = []
        self._ghost: LinkageView | None = None
        self._base: FloatArray | None = None
        self.look = studio.on(gui.add_button("Look into the last solve", color="blue"), lambda _: self._look())
        self.iteration = studio.on(gui.add_slider("Iteration", 0, 1, 1, 0, disabled=True), self._show, name="iteration")
        self.panel = gui.add_html("")
        with gui.add_folder("Null space"):
            self.free = gui.add_html(note("Swing what the goals leave free: the elbow turns, the hand stays."))
            self.direction = gui.add_number("Direction", 0, min=0, max=99, step=1)
            self.swing = studio.on(gui.add_slider("Swing", -SWING, SWING, 0.01, 0.0), self._swing, name="swing")
            self.swivel = gui.add_slider("Swivel [deg]", -180, 180, 1, 0, hint="the elbow about the line to the wrist")
            studio.on(self.swivel, self._turn_elbow, name="swing")
            self.hold = studio.on(gui.add_button("Keep this pose"), lambda _: self._keep())

    def rebuild(self) -> None:
        """A new linkage has no last solve."""
        self._moments = []
        self._forget()
        self._clear_ghost()
        self.iteration.disabled, self.panel.content = True, ""

    def _clear_ghost(self) -> None:
        if self._ghost is not None:
            self._ghost.remove()
            self._ghost = None

    # The iterations

    def _look(self) -> None:
        solution = self.studio.session.traced()
        if solution is None:
            raise GoalError("nothing has been solved yet; drag a goal first.")
        self._moments = moments(solution)
        last = len(self._moments) - 1
        self.iteration.max, self.iteration.disabled = max(last, 1), False
        self.iteration.value = last
        self._clear_ghost()
        self._ghost = ghost(self.studio, "/inside", solution.q, color=GHOST, opacity=0.45)
        self._show(last)

    def _show(self, k: int) -> None:
        if not self._moments or self._ghost is None:
            return
        k = min(int(k), len(self._moments) - 1)
        moment = self._moments[k]
        self._ghost.pose(moment.q)
        self.panel.content = _panel(k, len(self._moments) - 1, moment)

    # The null space

    def _swing(self, amount: float) -> None:
        session = self.studio.session
        goals = session.goals
        if not goals:
            raise GoalError("without a goal everything is free; add one in the tab Pose.")
        if self._base is None:
            self._base = session.q
        free = free_directions(session.linkage, goals, self._base)
        if not len(free):
            raise GoalError("these goals leave nothing free: there is no null space to swing in.")
        self.free.content = note(f"{len(free)} free direction{'s' * (len(free) != 1)} at this pose.")
        moved = swing(session.linkage, goals, self._base, float(amount), direction=int(self.direction.value))
        session.change(q=moved)

    def _turn_elbow(self, degrees: float) -> None:
        session = self.studio.session
        hand = next((target.frame for target in session.scene.targets if target.kind in ("reach", "pin")), None)
        if self._base is None:
            self._base = session.q
        moved = swivel(session.linkage, self._base, math.radians(degrees), frame=hand)
        session.change(q=read_only(moved.q))
        session.solution = None
        self.studio.say(str(moved.reason), "good" if moved.success else "bad")

    def _keep(self) -> None:
        self._forget()
        self.studio.session.commit()

    def refresh(self) -> None:
        """Swing from where the body is, once someone else has moved it."""
        if self.studio.gizmos.dragging:
            self._forget()

    def _forget(self) -> None:
        """Begin the next swing from the pose there is then."""
        self._base = None
        self.swing.value, self.swivel.value = 0.0, 0


def _panel(k: int, last: int, moment: Moment) -> str:
    """Return an iteration as tables: errors and notes, singular values and filters, the Jacobian, what is free."""
    notes = "".join(f", {escape(name)} {value:.3g}" for name, value in moment.notes.items())
    step = "" if moment.step is None else f", largest step {np.abs(moment.step).max(initial=0.0):.3g}"
    head = f"<b>Iteration {k} of {last}</b>: error {moment.residual:.3g}{step}{notes}"
    parts = [f'<div style="padding:4px 0">{head}</div>', _title("Singular values, and what damping keeps of them")]
    parts.append(_bars(moment.singular_values, moment.filters))
    parts += [_title("Jacobian (rows of the goals, columns of the joints)"), _matrix(moment.jacobian, moment.joints)]
    parts += [_title(f"Null space: {len(moment.free)} free directions"), _matrix(moment.free, moment.joints)]
    return f'<div class="linkwork-inside" style="padding:0 14px;font-size:12px">{"".join(parts)}</div>'


def _title(text: str) -> str:
    return f'<div style="padding-top:8px;color:#495057">{escape(text)}</div>'


def _bars(values: FloatArray, filters: FloatArray | None) -> str:
    largest = max(float(values.max(initial=0.0)), 1e-300)
    rows = []
    for k, value in enumerate(values.tolist()):
        kept, inner = ("", 0.0) if filters is None else (f"{filters[k]:.2f}", float(filters[k]))
        bar = (
            f'<div style="width:{100.0 * value / largest:.1f}%;height:9px;background:#d0bfff">'
            f'<div style="width:{100.0 * inner:.1f}%;height:9px;background:#7048e8"></div></div>'
        )
        rows.append(f'<tr><td style="width:60px">{value:.3g}</td><td>{bar}</td><td style="width:36px">{kept}</td></tr>')
    return f'<table style="width:100%;font-size:11px">{"".join(rows)}</table>'


def _matrix(matrix: FloatArray, joints: list[str]) -> str:
    """Return a matrix as a table of coloured cells, cut short where it is large."""
    if not matrix.size:
        return '<div style="color:#868e96">none</div>'
    shown = matrix[:MOST_ROWS, :MOST_COLUMNS]
    largest = max(float(np.abs(shown).max()), 1e-300)
    lines = []
    for row in np.where(np.abs(shown) < 1e-9 * largest, 0.0, shown).tolist():
        cells = "".join(_cell(value, value / largest, joint) for value, joint in zip(row, joints, strict=False))
        lines.append(f"<tr>{cells}</tr>")
    left_out = [f"{matrix.shape[k] - most} more {name}" for k, (most, name) in enumerate(
        ((MOST_ROWS, "rows"), (MOST_COLUMNS, "columns"))) if matrix.shape[k] > most]  # fmt: skip
    note = f'<div style="color:#868e96">and {" and ".join(left_out)}</div>' if left_out else ""
    return f'<table style="font-size:10px;border-spacing:1px">{"".join(lines)}</table>{note}'


def _cell(value: float, share: float, joint: str) -> str:
    color = "28,126,214" if share >= 0 else "224,49,49"
    style = f"background:rgba({color},{0.7 * abs(share):.2f});padding:1px 3px;text-align:right;min-width:26px"
    return f'<td title="{escape(joint, quote=True)}" style="{style}">{value:.2g}</td>'
