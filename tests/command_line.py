"""Runs the command line, in this process or in a separate one."""

from __future__ import annotations

import os
import sys

from click.testing import CliRunner

import children
from linkwork.cli import app as cli


def run(*words, stdin=None):
    return CliRunner().invoke(cli.app, [*map(str, words)], input=stdin, prog_name="linkwork")


def command_of(name):
    """Return the click object of a command."""
    return cli.app.get_command(None, name)


def python(*words, stdin="", code=None, **environment):
    """Run the command line in a separate process."""
    start = ["-m", "linkwork"] if code is None else ["-c", code]
    return children.run(
        [sys.executable, *start, *map(str, words)],
        stdin=stdin.encode(),
        env={**os.environ, **environment},
    )
