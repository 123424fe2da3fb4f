"""Collects the shards of a stage as they are done, closes its counts, and makes a corpus of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, RunError, nearest
from paraloom.core.schema import SCHEMAS
from paraloom.io import seal_corpus, write_shard
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.shards import open_shard
from paraloom.pipeline.counts import total
from paraloom.pipeline.manifest import ShardRecord
from paraloom.pipeline.splits import FOLDERS, Lane
from paraloom.pipeline.state import State
from paraloom.pipeline.store import sweep


class ShardRecords:
    """The shards of one stage.  Until `close`, its folder is no corpus that anyone could open.

    kind: the schema of what comes out.  given: that of what goes in, which failed rows keep.
    """

    def __init__(self, state: State, kind: str, given: str) -> None:
        if kind not in SCHEMAS:
            raise ConfigError(f"the stage makes no known kind of corpus, '{kind}'{nearest(kind, list(SCHEMAS))}")
        self.state = state
        self.kinds: dict[Lane, str] = {"kept": kind, "rejected": kind, "failed": given}
        self.records: dict[str, ShardRecord] = {}
        self.made = 0
        for below in FOLDERS.values():
            (state.folder / below / DESCRIPTION).unlink(missing_ok=True)

    def enter(self, record: ShardRecord, *, new: bool = True) -> None:
        """Add a shard that is done; a new one goes into the manifest too.  RunError when its columns are others."""
        first = next((other for other in self.records.values() if other.columns), record)
        if record.columns and record.columns != first.columns:
            raise RunError(
                f"its columns are not those of {first.name}: {self._difference(first, record)}",
                file=self.state.folder / record.name,
                remedy="A stage gives each batch the same columns and types: this is a fault of the stage.",
            )
        self.records[record.name] = record
        if new:
            self.state.manifest.put("shard", record.as_dict(), record.name)
            self.made += 1

    def close(self) -> dict[str, Any]:
        """The closing record, which is put in the manifest, once the counts add up and the folder is a corpus."""
        records = [self.records[name] for name in sorted(self.records)]
        folder = self.state.folder
        counts = total(record.counts for record in records).check(stage=self.state.place)
        files = {name: found for record in records for name, found in record.files.items()}
        if not counts.out:
            name = self._write_empty(records)
            files[name] = file_digest(folder / name)
        sweep(folder, set(files))
        for lane, below in FOLDERS.items():
            shards = [folder / name for name in files if (folder / name).parent == folder / below]
            if shards:
                seal_corpus(folder / below, shards, kind=self.kinds[lane])
                files[f"{below}{DESCRIPTION}"] = file_digest(folder / below / DESCRIPTION)
        end = {
            "key": self.state.whole,
            "kind": self.kinds["kept"],
            "files": files,
            "counts": counts.as_dict(),
            "shards": len(records),
            "seconds": round(sum(record.seconds for record in records), 3),
            "memory": max(record.memory for record in records),
        }
        self.state.manifest.put("end", end)
        return end

    def _write_empty(self, records: list[ShardRecord]) -> str:
        """A corpus has one shard at least: where no row was kept it is an empty one, with the columns it would have."""
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
        for name in (first.name, record.name):
            with open_shard(Path(self.state.folder / name)) as file:
                fields.append({f"{each.name} {each.type}" for each in file.schema_arrow})
        return ", ".join(sorted(fields[0] ^ fields[1])) or "their order, or what produced them"
