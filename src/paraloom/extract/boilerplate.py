"""Finds what a site repeats (menus, footers, logos) by the share of its pages that have it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Ids
from paraloom.io.database import open_database, register_shards, sql

MIN_SHARE = 0.2  # Minimum share of the pages of a site that have a text for it to count as repeated
MIN_PAGES = 5  # Minimum number of pages that have it

MAX_COUNTED_PAGES = 1000
"""Pages of a site that are counted, the first ones: enough for the share, and a bound on the work."""


def text_hash(text: str) -> int:
    """Hash a text to 64 bits, equal in all processes and runs."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def find_repeated(shards: Sequence[Path], column: str, scratch: Path) -> dict[str, Ids]:
    """Find the hashes that each site repeats, each counted once per page; spills to disk where memory is short."""
    with open_database(scratch=scratch) as database:
        columns = register_shards(database, "shards", shards)
        hashes = columns[column]
        is_struct = pa.types.is_struct(hashes.type.value_type)
        # Both counts are over the same pages: those whose hashes are counted.
        query = sql(
            """
            with pages as (select {site} as site, list_distinct({hashes}) as hashes from shards where {counted}),
                 sites as (select site, count(*) as pages from pages group by site),
                 hash_counts as (select site, hash, count(*) as times
                                 from (select site, unnest(hashes) as hash from pages)
                                 group by site, hash having times >= {min_pages})
            select site, hash from hash_counts join sites using (site)
            where times >= {min_share} * pages order by site, hash
            """,
            site=columns["site"].name,
            counted=columns["counted"].name,
            hashes=sql("list_transform({}, lambda x: x.hash)", hashes.name) if is_struct else sql("{}", hashes.name),
            min_pages=MIN_PAGES,
            min_share=MIN_SHARE,
        )
        result = database.execute(query).fetchnumpy()
    sites, starts = np.unique(np.asarray(result["site"], dtype=object).astype(str), return_index=True)
    parts = np.split(np.asarray(result["hash"], np.uint64), starts[1:])
    return dict(zip(sites.tolist(), parts, strict=False))
