"""pyarrow, started without pandas, which its first array would import wherever it is installed."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder


def start_without_pandas() -> None:
    """Have pyarrow look for pandas now, and not find it: a quarter of a second less in every process of a run.

    For processes of our own, the command and its workers: until somebody asks pyarrow for a data frame (which then
    imports pandas as ever), pa.array takes a pandas Series for any other sequence.  Does nothing once pandas is
    imported.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


class _Hidden(MetaPathFinder):
    """A finder that says of pandas that it is not there."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)
