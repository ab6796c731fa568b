"""Read files in a separate process: a program of this folder answers a request, or is stopped."""

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

# The standard library and installed packages precede the folders of this process, so that an enum.py beside a script
# does not hide the real one.
START = """import json, runpy, sys
program, folders = sys.argv[1:]
sys.path += [folder for folder in json.loads(folders) if folder not in sys.path]
sys.argv = [program]
runpy.run_path(program, run_name="__main__")
"""
NAMED = "LINKWORK_PYTHON"
PATIENCE = 60.0  # wall-clock limit of a process [s]


def ask(program: str, request: Mapping[str, Any], path: object, reader: str, environment: Mapping[str, str]) -> bytes:
    """Return the answer of a program of this folder.

    Args:
        program: Its file name in this folder. It gets the request as JSON on stdin.
        request: The request.
        path: The file that it reads, for error messages.
        reader: Name of the library that reads the file, for error messages: ``"USD"``.
        environment: Its environment variables.

    Raises:
        FormatError: If it takes too long, fails or returns nothing, or there is no Python to run it.
    """
    python, file = _python(path, reader), Path(__file__).with_name(program)
    if not file.is_file():
        raise FormatError(path, f"{reader} cannot be run: {file} is missing; include it in the application as data.")
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
        raise FormatError(path, f"{reader} does not finish reading it; the file is damaged or malicious.") from error
    if answer.returncode != 0 or not answer.stdout:
        why = f"{reader} fails on it, or needs too much time or memory; the file is damaged or malicious."
        raise FormatError(path, why)
    return answer.stdout


def _python(path: object, reader: str) -> str:
    """Return the Python for the separate process; a frozen application must name one."""
    named = os.environ.get(NAMED)
    if named:
        return named
    if not can_start_python():
        raise FormatError(
            path,
            f"{reader} needs a separate Python process, but this application has no Python to start; "
            f"set {NAMED} to a Python with {reader} installed, or convert the file elsewhere.",
        )
    return sys.executable


def _surroundings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the process, with the variable that Python needs on Windows."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ} | dict(environment)


def ask_arrays(
    program: str,
    request: Mapping[str, Any],
    path: object,
    reader: str,
    environment: Mapping[str, str],
    missing: MissingExtraError,
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Return the header and arrays of a program of this folder that answers with an NPZ archive.

    Args:
        program: Its file name in this folder, as in `ask`.
        request: The request.
        path: The file that it reads, for error messages.
        reader: Name of the library that reads the file, for error messages.
        environment: Its environment variables.
        missing: Raised if the library is not installed.

    Raises:
        FormatError: If it fails, refuses the file, or returns numbers that are not finite.
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
