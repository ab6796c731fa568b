"""Charts of inverse kinematics: the chapter's figures, races of methods, workspaces, maps of manipulability.

Arguments are checked here; `rows`, `plots` and `reports` draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..linkage.linkage import Linkage, check_linkage
from ..transforms import as_array
from .arguments import Target, goal_point, picture_path, saved

MOST_NODES = 400

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..explain.races import RaceResult
    from ..explain.workspaces import Workspace
    from ..models.textbook import Figure as ChapterFigure
    from ..motion.inspection import Report


def figure(figure: ChapterFigure, *, path: Target = None) -> Figure:
    """Draw a figure of the chapter: its diagrams, or its rows of frames, all at one scale.

    In rows of frames, a cross marks the goal and a line shows the path of the end effector: the past in full colour,
    the future faintly. Diagrams show linkages with their angles, lengths and vectors, trees of nodes and arcs, code and
    formulas. SVG files hold text as paths, so that it looks the same everywhere; PDF files embed the fonts.

    Args:
        figure: Result of `textbook.figure`.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> len(lw.draw.figure(lw.textbook.figure("5.20")).axes)
        10
    """
    from ..models.textbook import Figure as Given

    if not isinstance(figure, Given):
        raise OptionError(f"expected a figure, as from lw.textbook.figure('5.20'), got {type(figure).__name__}.")
    if not figure.panels and not figure.plates:
        raise OptionError(f"figure {figure.number} has no rows and no diagrams to draw.")
    target = picture_path(path)
    from . import diagrams, rows

    page = diagrams.sheet(figure.title, figure.plates) if figure.plates else rows.sheet(figure)
    return saved(page, target)


def tree(linkage: Linkage, *, title: str | None = None, path: Target = None) -> Figure:
    """Draw the tree of a linkage as in the chapter: links as nodes, joints as arcs with their names and kinds.

    Args:
        linkage: The linkage; up to 400 links.
        title: Title above the tree; the linkage's name by default.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> page = lw.draw.tree(lw.models.planar([2, 1]))
        >>> [text.get_text() for text in page.texts][:3]
        ['planar', 'root', 'fixed']
    """
    check_linkage(linkage)
    if len(linkage.nodes) > MOST_NODES:
        raise OptionError(
            f"linkage {linkage.name!r} has {len(linkage.nodes)} links; a tree of more than {MOST_NODES} cannot be "
            "read. Draw a part of it: linkage.subtree(link)."
        )
    target = picture_path(path)
    from ..models.textbook.diagrams import hierarchy
    from . import diagrams

    return saved(diagrams.sheet(linkage.name if title is None else title, [[hierarchy(linkage)]]), target)


def race(laps: Sequence[RaceResult], *, goal: ArrayLike | None = None, path: Target = None) -> Figure:
    """Draw the results of methods on one problem: error against iteration, path of the end effector, and a table.

    Args:
        laps: Result of `lw.race`.
        goal: Position (x, y) or (x, y, z) to mark with a cross; by default that of the first goal.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> from linkwork.explain.races import race as run
        >>> laps = run(lw.models.planar([2, 1]), lw.Reach("tip", position=(1, 2)), start=[0.1, 0.2])
        >>> lw.draw.race(laps).axes[0].get_yscale()
        'log'
    """
    given = list(laps)
    if not any(lap.solution is not None for lap in given):
        raise OptionError("there is nothing to draw: no method took this goal. Each result says why.")
    target = picture_path(path)
    from . import plots

    return saved(plots.race(given, goal_point(goal)), target)


def report(report: Report, *, path: Target = None) -> Figure:
    """Draw the faults of a motion over time, above curves of the steps, heights and errors that show them.

    Args:
        report: Result of `lw.inspect` or `Clip.report`.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.interpolate(lw.models.planar([2, 1]), [(0, [0, 0]), (1, [1, 2])])
        >>> len(lw.draw.report(clip.report()).axes)
        2
    """
    from ..motion.inspection import Report as Given

    if not isinstance(report, Given):
        raise OptionError(f"expected a report, as from lw.inspect(clip), got {type(report).__name__}.")
    target = picture_path(path)
    from . import reports

    return saved(reports.report(report), target)


def workspace(workspace: Workspace, *, path: Target = None) -> Figure:
    """Draw the workspace of a frame: in the plane, or in space with three projections.

    The linkage is drawn in its neutral pose, with the exact ring of a planar arm if it is known. If `explain.workspace`
    computed the dexterous workspace, its points are highlighted, with the exact rings of a planar arm.

    Args:
        workspace: Result of `explain.workspace`.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> space = lw.explain.workspace(lw.models.planar([2, 1]), "tip", samples=500)
        >>> len(lw.draw.workspace(space).axes)
        1
    """
    from ..explain.workspaces import Workspace as Given

    if not isinstance(workspace, Given):
        raise OptionError(f"expected a workspace, as from lw.explain.workspace(...), got {type(workspace).__name__}.")
    target = picture_path(path)
    from . import plots

    return saved(plots.workspace(workspace), target)


def map(  # noqa: A001 - always called as draw.map
    first: ArrayLike, second: ArrayLike, measure: ArrayLike, *, names: Sequence[str], path: Target = None
) -> Figure:
    """Draw the manipulability over two joints as a map: dark areas are at or near singularities.

    Args:
        first: Values of the first joint (n,), along x.
        second: Values of the second joint (m,), along y.
        measure: The measure (n, m), as `explain.joint_map` returns it.
        names: Names of both joints; the unit is radians unless the name has one, as in ``"lift [m]"``.
        path: Also save it there: .png, .svg or .pdf.

    Example:
        >>> import linkwork as lw
        >>> found = lw.explain.joint_map(lw.models.planar([2, 1]), ("j1", "j2"), "tip", resolution=21)
        >>> lw.draw.map(*found, names=("j1", "j2")).axes[0].get_ylabel()
        'j2 [rad]'
    """
    x, y = as_array(first, "first joint's values"), as_array(second, "second joint's values")
    values = as_array(measure, "measure")
    if not np.isfinite(values).all() or (values < 0.0).any():
        raise OptionError("a measure of manipulability is finite and not negative.")
    if x.ndim != 1 or y.ndim != 1 or values.shape != (len(x), len(y)) or min(values.shape) < 2:
        raise OptionError(
            f"a map needs values (n,) and (m,) and a measure (n, m), at least two each way; "
            f"got shapes {x.shape}, {y.shape} and {values.shape}."
        )
    if isinstance(names, str) or len(names) != 2:
        raise OptionError(f"a map needs the names of two joints, got {names!r}.")
    target = picture_path(path)
    from . import plots

    return saved(plots.heat_map(x, y, values, [str(name) for name in names]), target)
