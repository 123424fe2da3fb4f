"""pyarrow starts without pandas, and still imports it when a data frame is asked for."""

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


@pytest.mark.slow
def test_only_data_frames_import_pandas() -> None:
    pytest.importorskip("pandas")
    process = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert process.stdout.split(" ", 1) == ["False", "(2, 1) 2\n"]
