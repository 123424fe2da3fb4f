"""Collects the finished shards of a stage, checks its row counts, and turns them into a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, RunError, nearest
from paraloom.core.events import emit
from paraloom.core.schema import SCHEMAS
from paraloom.core.stage import Json
from paraloom.io import seal_corpus, write_shard
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.shards import open_shard
from paraloom.pipeline.counts import total
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.splits import FOLDERS, SplitName
from paraloom.pipeline.state import State
from paraloom.pipeline.store import sweep


class ShardRecords:
    """The shards of one stage. Until `close`, its folder is not a corpus that could be opened."""

    def __init__(self, state: State, kind: str, input_kind: str) -> None:
        if kind not in SCHEMAS:
            raise ConfigError(f"unknown schema '{kind}' of the stage's output{nearest(kind, list(SCHEMAS))}")
        self.state = state
        self.kinds: dict[SplitName, str] = {"kept": kind, "rejected": kind, "failed": input_kind}
        self.records: dict[str, ShardRecord] = {}
        self.written = 0
        for below in FOLDERS.values():
            (state.folder / below / DESCRIPTION).unlink(missing_ok=True)

    def enter(self, record: ShardRecord, *, new: bool = True) -> None:
        """Add a finished shard, and record it in the manifest if it is new; RunError if its columns differ."""
        first = next((other for other in self.records.values() if other.columns), record)
        if record.columns and record.columns != first.columns:
            raise RunError(
                f"its columns differ from those of {first.name}: {self._difference(first, record)}",
                file=self.state.folder / record.name,
                remedy="A stage must give each batch the same columns and types: this is a bug of the stage.",
            )
        if new:
            record = ShardRecord.from_dict(self.state.manifest.put("shard", record.as_dict(), record.name))
            self.written += 1
            emit(
                "shard_end",
                stage=self.state.folder_name,
                shard=record.name,
                counts=record.counts.as_dict(),
                seconds=record.seconds,
                memory=record.memory,
            )
        self.records[record.name] = record

    def close(self, figures: Mapping[str, Json] | None = None) -> dict[str, Any]:
        """Check the row counts, make the folder a corpus, and return the closing record of the manifest."""
        records = [self.records[name] for name in sorted(self.records)]
        folder = self.state.folder
        self.state.manifest.fetch({name: known for record in records for name, known in record.files.items()})
        counts = total(record.counts for record in records).check(stage=self.state.folder_name)
        files = {name: file_hash for record in records for name, file_hash in record.files.items()}
        if not counts.out:
            name = self._write_empty(records)
            files[name] = file_digest(folder / name)
        sweep(folder, set(files))
        for split_name, below in FOLDERS.items():
            shards = [folder / name for name in files if (folder / name).parent == folder / below]
            if shards:
                seal_corpus(folder / below, shards, kind=self.kinds[split_name])
                files[f"{below}{DESCRIPTION}"] = file_digest(folder / below / DESCRIPTION)
        end = {
            "key": self.state.whole,
            "kind": self.kinds["kept"],
            "files": files,
            "counts": counts.as_dict(),
            "shards": len(records),
            "seconds": round(sum(record.seconds for record in records), 3),
            "memory": max(record.memory for record in records),
            **({"figures": figures} if figures else {}),
        }
        return self.state.manifest.put("end", end)

    def _write_empty(self, records: list[ShardRecord]) -> str:
        """Write an empty shard with the right columns, if no row was kept: a corpus has at least one shard."""
        rejected = next((name for record in records for name in record.files if name.startswith("rejected/")), None)
        if rejected is None:
            raise RunError(
                "every row failed", file=self.state.folder / "failed", remedy="Its column 'error' says why, row by row."
            )
        with open_shard(self.state.folder / rejected) as file:
            schema = file.schema_arrow
        write_shard(self.state.folder / records[0].name, [], schema.remove(schema.get_field_index("reason")))
        return records[0].name

    def _difference(self, first: ShardRecord, record: ShardRecord) -> str:
        fields: list[set[str]] = []
        self.state.manifest.fetch({**first.files, **record.files})
        for name in (first.name, record.name):
            with open_shard(Path(self.state.folder / name)) as file:
                fields.append({f"{field.name} {field.type}" for field in file.schema_arrow})
        return ", ".join(sorted(fields[0] ^ fields[1])) or "their order, or their signatures"
