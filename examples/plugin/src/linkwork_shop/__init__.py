"""An example of a package that extends linkwork: one module for each entry point in `pyproject.toml`."""
