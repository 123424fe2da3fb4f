"""Shifts the seeds of a process that a test started; `tests/conftest.py` puts this folder on its path."""

import shaken_seeds  # noqa: F401
