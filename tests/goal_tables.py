"""Writes tables of goals to files, for tests of datasets."""

from __future__ import annotations

import pytest
from scipy.spatial.transform import Rotation

from linkwork.scale.goal_columns import QUATERNION, ROTATION

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns_of(targets, turn="quaternion"):
    named = {axis: targets[:, k, 3] for k, axis in enumerate("xyz")}
    if turn == "quaternion":
        wxyz = Rotation.from_matrix(targets[:, :3, :3]).as_quat(scalar_first=True)
        named |= dict(zip(QUATERNION, wxyz.T, strict=True))
    elif turn == "matrix":
        named |= dict(zip(ROTATION, targets[:, :3, :3].reshape(-1, 9).T, strict=True))
    return named


def write(path, named, row_group=None):
    table = pa.table(named)
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=row_group)
    return path


def spoil(path, group):
    """Overwrite the middle of a row group."""
    at = pq.read_metadata(path).row_group(group).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[at : at + 60] = bytes(60)
    path.write_bytes(data)
