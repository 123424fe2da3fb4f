"""The work of an extraction that processes share: parsing pages, and hashing pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from paraloom.core.errors import ParaloomError
from paraloom.core.progress import Advance
from paraloom.extract.images import Fingerprint, fingerprint
from paraloom.extract.parsed import PARSED, Job, parse
from paraloom.io import write_shard

Item = TypeVar("Item")

# A task is so many pages or pictures, or bytes of them: enough to keep a process busy, few enough to hold.
_COUNT, _BYTES = 64, 8 << 20


@dataclass(frozen=True)
class Parse:
    """Some pages into one shard of PARSED."""

    jobs: tuple[Job, ...]
    target: Path
    stage: str = "extract"

    @property
    def file(self) -> str:
        """Where its first page is, for errors."""
        return self.jobs[0].page.url

    @property
    def rows(self) -> int:
        """Its pages."""
        return len(self.jobs)

    def __call__(self, advance: Advance) -> Path:
        """Write the shard; returns where it is."""
        rows = []
        for job in self.jobs:
            try:
                rows.append(parse(job))
            except ParaloomError:
                raise
            # A page that makes an extractor fall over is set aside with what it said; it does not stop the others.
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                aside = {"doc_id": job.doc_id, "url": job.page.url, "site": job.page.site, "counted": False}
                rows.append(aside | {"replaced": 0, "reason": "failed", "detail": said})
            advance(1)
        write_shard(self.target, pa.RecordBatch.from_pylist(rows, schema=PARSED), PARSED)
        return self.target


@dataclass(frozen=True)
class Hash:
    """Pictures into their hashes.  items: the key of each, and its bytes; None for those in the file of that name."""

    items: tuple[tuple[str, bytes | None], ...]
    stage: str = "extract"

    @property
    def file(self) -> str:
        """Its first picture, for errors."""
        return self.items[0][0]

    @property
    def rows(self) -> int:
        """Its pictures."""
        return len(self.items)

    def __call__(self, advance: Advance) -> list[tuple[str, Fingerprint]]:
        """The hashes by key; a file that cannot be read is left out, and is then missing."""
        found = []
        for key, body in self.items:
            try:
                found.append((key, fingerprint(Path(key).read_bytes() if body is None else body)))
            except OSError:
                continue
            finally:
                advance(1)
        return found


def parsing(jobs: Iterable[Job], folder: Path) -> Iterator[Parse]:
    """Tasks that write the shards 0, 1 … of `folder`, in the order of the pages."""
    sized = ((job, len(job.page.body)) for job in jobs)
    for number, batch in enumerate(_batches(sized)):
        yield Parse(tuple(batch), folder / f"pages-{number:06d}.parquet")


def hashing(pictures: Iterable[tuple[str, bytes | None]]) -> Iterator[Hash]:
    """Tasks that hash pictures."""
    for batch in _batches((item, len(item[1] or b"")) for item in pictures):
        yield Hash(tuple(batch))


def _batches(sized: Iterable[tuple[Item, int]]) -> Iterator[list[Item]]:
    held: list[Item] = []
    size = 0
    for item, weight in sized:
        held.append(item)
        size += weight
        if len(held) == _COUNT or size >= _BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held
