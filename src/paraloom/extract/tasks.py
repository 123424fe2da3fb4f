"""Tasks that an extraction distributes over processes: parsing pages and hashing images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from paraloom.core.errors import ParaloomError
from paraloom.core.progress import Advance
from paraloom.extract.images import ImageHashes, hash_image
from paraloom.extract.parsing import PARSED_PAGES, ParseJob, parse_page
from paraloom.io import write_shard

Item = TypeVar("Item")

# Size of a task in items and in bytes: enough to keep a process busy, few enough to hold in memory.
_MAX_ITEMS, _MAX_BYTES = 64, 8 << 20


@dataclass(frozen=True)
class ParsePages:
    """A task that parses pages to one shard of PARSED_PAGES."""

    jobs: tuple[ParseJob, ...]
    target: Path
    stage: str = "extract"

    @property
    def file(self) -> str:
        """Address of its first page, for errors."""
        return self.jobs[0].page.url

    @property
    def rows(self) -> int:
        return len(self.jobs)

    def __call__(self, advance: Advance) -> Path:
        rows = []
        for job in self.jobs:
            try:
                rows.append(parse_page(job))
            except ParaloomError:
                raise
            # A page that makes an extractor raise is rejected with the error; it does not stop the others.
            except Exception as error:
                row = {"doc_id": job.doc_id, "url": job.page.url, "site": job.page.site, "counted": False}
                rows.append(row | {"replaced": 0, "reason": "failed", "detail": f"{type(error).__name__}: {error}"})
            advance(1)
        write_shard(self.target, pa.RecordBatch.from_pylist(rows, schema=PARSED_PAGES), PARSED_PAGES)
        return self.target


@dataclass(frozen=True)
class HashImages:
    items: tuple[tuple[str, bytes | None], ...]
    stage: str = "extract"

    @property
    def file(self) -> str:
        """Key of its first image, for errors."""
        return self.items[0][0]

    @property
    def rows(self) -> int:
        return len(self.items)

    def __call__(self, advance: Advance) -> list[tuple[str, ImageHashes]]:
        hashes = []
        for key, body in self.items:
            try:
                hashes.append((key, hash_image(Path(key).read_bytes() if body is None else body)))
            except OSError:
                continue
            finally:
                advance(1)
        return hashes


def parse_tasks(jobs: Iterable[ParseJob], folder: Path) -> Iterator[ParsePages]:
    """Group pages to tasks that write the shards 0, 1 … of a folder, in the order of the pages."""
    sized = ((job, len(job.page.body)) for job in jobs)
    for number, batch in enumerate(_batches(sized)):
        yield ParsePages(tuple(batch), folder / f"pages-{number:06d}.parquet")


def hash_tasks(images: Iterable[tuple[str, bytes | None]]) -> Iterator[HashImages]:
    for batch in _batches((item, len(item[1] or b"")) for item in images):
        yield HashImages(tuple(batch))


def _batches(sized: Iterable[tuple[Item, int]]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item, weight in sized:
        batch.append(item)
        size += weight
        if len(batch) == _MAX_ITEMS or size >= _MAX_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
