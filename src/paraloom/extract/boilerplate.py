"""What a site repeats: menus, footers, logos, told from main text by how many of its pages have them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

SHARE, PAGES = 0.2, 5
"""What stands on this share of a site's pages, and on so many of them, is repeated."""
COUNTED = 1000
"""Pages of a site that are counted, its first ones: a bound on the work, and enough to tell a fifth from less."""


def text_hash(text: str) -> int:
    """64 bits that stand for a text, the same in all processes and runs.

    >>> text_hash("Contents") == text_hash("Contents") != text_hash("contents")
    True
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def repeated_texts(shards: Sequence[Path], column: str, scratch: Path) -> dict[str, npt.NDArray[np.uint64]]:
    """For each site, the hashes that it repeats, uint64 (n,), sorted; a site without any is left out.

    shards: Parquet files with the columns site, counted (whether the page counts) and `column`, a list of 64-bit
    hashes.  A hash counts once a page.  The counting is done on the disk, in `scratch`, where memory is short.
    """
    database = duckdb.connect(":memory:", config={"memory_limit": "1GB", "temp_directory": str(scratch)})
    # The two counts have to be of the same pages: those whose hashes are counted.
    query = f"""
        with pages as (select site, list_distinct({column}) as found from read_parquet($1) where counted),
             sites as (select site, count(*) as pages from pages group by site),
             held as (select site, hash, count(*) as times
                      from (select site, unnest(found) as hash from pages) group by site, hash having times >= {PAGES})
        select site, hash from held join sites using (site) where times >= {SHARE} * pages order by site, hash
    """
    with database:
        found = database.execute(query, [[str(path) for path in shards]]).fetchnumpy()
    sites, starts = np.unique(np.asarray(found["site"], dtype=object).astype(str), return_index=True)
    parts = np.split(np.asarray(found["hash"], np.uint64), starts[1:])
    return dict(zip(sites.tolist(), parts, strict=False))
