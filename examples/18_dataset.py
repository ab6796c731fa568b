"""A dataset of goals, interrupted and resumed.

Where can a hand be put down? Forty thousand goals in a Parquet file become a dataset of answers, block by block. The
run is interrupted halfway and resumed; in the end every row is there exactly once.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib.figure import Figure

import linkwork as lw

SIDE, EDGE, HEIGHT = 200, 0.9, 0.2


def stop_halfway(result: lw.DatasetResult) -> None:
    if result.answered >= result.total // 2:
        raise KeyboardInterrupt


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.panda()
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.linspace(-EDGE, EDGE, SIDE)] * 2))
    targets = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(x), 1, 1))  # the hand points down
    targets[:, :3, 3] = np.stack([x, y, np.full_like(x, HEIGHT)], axis=1)

    with tempfile.TemporaryDirectory() as name:
        dataset, answers = Path(name, "goals.parquet"), Path(name, "answers")
        lw.save_goals(dataset, targets)
        try:
            lw.solve_dataset(arm, "tip", dataset, answers, block_rows=5000, progress=stop_halfway)
        except KeyboardInterrupt:
            print(f"stopped: {len(list(answers.glob('part-*.parquet')))} parts are there, all of them whole")
        result = lw.solve_dataset(arm, "tip", dataset, answers, block_rows=5000, resume=True)
        print(f"{result}, {result.resumed} rows of them from before")
        table = pq.read_table(answers)

    print(f"ids are 0 to {table['id'][-1]}, each once: {np.array_equal(table['id'], np.arange(SIDE * SIDE))}")
    figure = Figure(figsize=(5.5, 4.5), layout="constrained")
    axes = figure.subplots()
    shown = np.where(table["success"], table["q.panda_joint4"], np.nan).reshape(SIDE, SIDE)
    image = axes.imshow(np.degrees(shown), origin="lower", extent=(-EDGE, EDGE, -EDGE, EDGE), cmap="viridis")
    axes.set(xlabel="x [m]", ylabel="y [m]", title=f"hand down at {HEIGHT} m: {result.reached} of {result.total}")
    axes.set_facecolor("0.92")
    figure.colorbar(image, label="elbow [deg]")
    figure.savefig(out / "dataset.png", dpi=110)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
