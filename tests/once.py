"""Work that several test processes need the result of, done by the first of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

SECONDS = 300.0  # that the others wait


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, which JSON can hold; of all processes of a run, the first makes it."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    result = shared / f"{name}.json"
    try:
        (shared / f"{name}.begun").mkdir()
    except FileExistsError:
        end = time.monotonic() + SECONDS
        while not result.exists():
            if time.monotonic() > end:
                pytest.fail(f"waited {SECONDS:g} s for another process to make {name}")
            time.sleep(0.1)
        return json.loads(result.read_text(encoding="utf-8"))
    part = result.with_suffix(".part")
    part.write_text(json.dumps(make()), encoding="utf-8")
    part.replace(result)
    return json.loads(result.read_text(encoding="utf-8"))
