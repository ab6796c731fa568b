"""An example of a package that adds to linkwork: one module for each thing, named in `pyproject.toml`."""
