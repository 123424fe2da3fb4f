"""pyarrow is started without pandas, and finds it all the same when it is asked for."""

import subprocess
import sys

import pytest

PROBE = """
import sys
from paraloom.core.arrow import start_without_pandas
start_without_pandas()
import pyarrow as pa
table = pa.table({"a": pa.array(["x", None])})
print("pandas" in sys.modules, end=" ")
print(table.to_pandas().shape, pa.Table.from_pandas(table.to_pandas()).num_rows)
"""


def test_arrays_do_not_import_pandas_and_data_frames_do() -> None:
    pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert done.stdout.split(" ", 1) == ["False", "(2, 1) 2\n"]
