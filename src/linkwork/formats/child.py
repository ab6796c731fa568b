"""Files that are read in a process of their own: a program of this folder is asked, and answers or is ended."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, MissingExtraError
from ..kernels.workers import can_start_python
from ..transforms import FloatArray

# Python itself and what is installed go before the folders of this process: an enum.py beside a script hides nothing.
START = """import json, runpy, sys
program, folders = sys.argv[1:]
sys.path += [folder for folder in json.loads(folders) if folder not in sys.path]
sys.argv = [program]
runpy.run_path(program, run_name="__main__")
"""
NAMED = "LINKWORK_PYTHON"
PATIENCE = 60.0  # seconds until a process that does not compute is ended


def ask(program: str, request: Mapping[str, Any], path: object, reader: str, environment: Mapping[str, str]) -> bytes:
    """Return what a program of this folder answers.

    Args:
        program: Its file here. It is given the request as JSON on stdin.
        request: What it is asked.
        path: The file that it reads, for errors.
        reader: What reads it there, for errors: ``"USD"``.
        environment: The variables that it sees.

    Raises:
        FormatError: If it takes too long, fails or says nothing, or there is no Python to run it.
    """
    python, file = _python(path, reader), Path(__file__).with_name(program)
    if not file.is_file():
        raise FormatError(path, f"{reader} cannot be asked: {file} is not there; put it into the application as data.")
    folders = json.dumps([folder for folder in sys.path if folder])
    try:
        answer = subprocess.run(
            [python, "-I", "-B", "-c", START, str(file), folders],
            input=json.dumps(request).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            env=_surroundings(environment),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FormatError(path, f"{reader} does not come to an end with it; it is damaged, or means harm.") from error
    if answer.returncode != 0 or not answer.stdout:
        why = f"{reader} fails on it, or takes too long or too much memory: it is damaged or means harm."
        raise FormatError(path, why)
    return answer.stdout


def _python(path: object, reader: str) -> str:
    """Return the Python that reads files in a process of its own; an application that was frozen must name one."""
    named = os.environ.get(NAMED)
    if named:
        return named
    if not can_start_python():
        raise FormatError(
            path,
            f"{reader} reads it in a process of its own, for which this application has no Python; "
            f"{NAMED} may name one that has {reader} installed, or convert the file elsewhere.",
        )
    return sys.executable


def _surroundings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process sees, with the one that no Python starts without on Windows."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ} | dict(environment)


def ask_arrays(
    program: str,
    request: Mapping[str, Any],
    path: object,
    reader: str,
    environment: Mapping[str, str],
    missing: MissingExtraError,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return the header and the arrays that a program of this folder answers as an NPZ archive.

    Args:
        program: Its file here, as in `ask`.
        request: What it is asked.
        path: The file that it reads, for errors.
        reader: What reads it there, for errors.
        environment: The variables that it sees.
        missing: Raised if it lacks a package.

    Raises:
        FormatError: If it fails, refuses the file, or gives numbers that are not finite.
    """
    answer = ask(program, request, path, reader, environment)
    with np.load(io.BytesIO(answer), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    if "missing" in header:
        raise missing
    if "error" in header:
        raise FormatError(path, f"{header['error'].rstrip('.')}.", line=header.get("line"))
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise FormatError(path, "has numbers that are not finite.")
    return header, arrays
