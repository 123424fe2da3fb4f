"""Data sets on the Hugging Face hub by configuration and split: which files they are, put together as one table."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.lazy import late

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

join_shards = late("paraloom.io.shards:join_shards")

_ADDRESS = re.compile(r"(hf://datasets/[^/?]+/(?P<name>[^/?@]+)[^/?]*)(?:\?(?P<query>.*))?$")
_CARD = "README.md"
_FRONT_MATTER = re.compile(r"---\s*\n(.*?)\n---", re.DOTALL)
_FOLDERS = ("state.json", "corpus.json", "dataset_dict.json")
"""Files in the root of a data set that is a folder to be read as it is: `save_to_disk`, or a corpus."""

_KINDS = re.compile(r"\.(?:parquet|(?:jsonl|csv|tsv|txt)(?:\.(?:gz|zst|xz))?)$")
_SPLITS = {
    "train": re.compile(r"(?<![a-z])train(?:ing)?(?![a-z])"),
    "validation": re.compile(r"(?<![a-z])(?:validation|valid|val|dev)(?![a-z])"),
    "test": re.compile(r"(?<![a-z])(?:test|testing|eval)(?![a-z])"),
}
_DEFAULT, _TRAIN = "default", "train"

_Splits = dict[str, dict[str, list[str]]]
"""Configuration → split → paths of its files."""


class HubSelection(NamedTuple):
    """A configuration and a split of a data set; None: the one that is obvious."""

    address: str
    name: str
    config: str | None
    split: str | None


def selection_of(url: str) -> HubSelection | None:
    """What `hf://datasets/ORG/NAME?config=…&split=…` selects; None for a path inside a data set, and other URLs."""
    match = _ADDRESS.match(url)
    if match is None:
        return None
    query = dict(parse_qsl(match["query"] or "", keep_blank_values=True))
    if unknown := sorted(set(query) - {"config", "split"}):
        raise ConfigError(
            f"unknown setting '{unknown[0]}' of a data set", file=url, remedy="Known are ?config=NAME&split=NAME."
        )
    return HubSelection(match[1], match["name"], query.get("config"), query.get("split"))


def select_files(
    selection: HubSelection, file_system: object, root: str, paths: Iterable[str]
) -> tuple[str, list[str]]:
    """The name of the table, and the paths of its files below the root; no path for a folder that is read as it is."""
    paths = sorted(paths)
    if not (selection.config or selection.split) and set(paths) & set(_FOLDERS):
        return "", []
    splits = _of_card(file_system, root, paths) if _CARD in paths else {}
    splits = splits or _of_names(paths)
    if not splits:
        raise DataError(
            "the data set has no files that are read: .parquet, .jsonl, .csv, .tsv or .txt",
            file=selection.address,
            remedy=f"Try the Parquet that the hub makes of it: {selection.address.partition('@')[0]}@~parquet.",
        )
    config = _chosen("config", selection.config, splits, _DEFAULT, selection.address)
    split = _chosen("split", selection.split, splits[config], _TRAIN, selection.address)
    files = splits[config][split]
    kinds = {match[0] for file in files if (match := _KINDS.search(file))}
    if len(kinds) != 1 or (len(files) > 1 and kinds.isdisjoint((".parquet", ".jsonl"))):
        raise ConfigError(
            f"{len(files)} files of {', '.join(sorted(kinds)) or 'another kind'} cannot be put together",
            file=selection.address,
            remedy=f"Name one of them: {selection.address}/{files[0]}.",
        )
    named = "" if config == _DEFAULT else f".{config.replace('/', '-')}"
    return f"{selection.name}-{split}{named}{kinds.pop()}", files


def join_files(parts: list[Path], target: Path) -> None:
    """Put the parts of a table together, in order."""
    if len(parts) == 1:
        parts[0].rename(target)
    elif target.suffix == ".parquet":
        join_shards(parts, target)
    else:
        with target.open("wb") as stream:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, stream)
                    if source.tell() and source.seek(-1, os.SEEK_END) and source.read() != b"\n":
                        stream.write(b"\n")


def _chosen(kind: str, wanted: str | None, known: Mapping[str, object], default: str, address: str) -> str:
    name = wanted or (default if default in known else next(iter(known)) if len(known) == 1 else None)
    if name in known:
        return str(name)
    what = f"{kind} '{name}' not found{nearest(name, list(known))}" if name else f"several {kind}s: {', '.join(known)}"
    raise ConfigError(what, file=address, remedy=f"Name one: {address}?{kind}={next(iter(known))}.")


def _of_card(file_system: AbstractFileSystem, root: str, paths: list[str]) -> _Splits:
    """The configurations that the card lists."""
    splits: _Splits = {}
    for config in _configs(file_system.cat_file(f"{root}/{_CARD}").decode(errors="replace")):
        if files := _files_of(config, paths):
            splits[str(config.get("config_name", _DEFAULT))] = files
            if config.get("default") is True:
                splits[_DEFAULT] = files
    return splits


def _configs(card: str) -> list[dict[str, Any]]:
    """The configurations in the front matter of a card; none where it cannot be read."""
    import yaml

    front = _FRONT_MATTER.match(card)
    try:
        facts = yaml.safe_load(front[1]) if front else None
    except yaml.YAMLError:
        return []
    listed = facts.get("configs") if isinstance(facts, dict) else None
    return [config for config in listed if isinstance(config, dict)] if isinstance(listed, list) else []


def _files_of(config: Mapping[str, object], paths: Iterable[str]) -> dict[str, list[str]]:
    """The files of each split of a configuration: those that its patterns match, or those in its folder."""
    from fsspec.utils import glob_translate

    folder = str(config.get("data_dir") or "").strip("/")
    below = [path for path in paths if path != _CARD and (not folder or path.startswith(f"{folder}/"))]
    if "data_files" not in config:
        return {split: names for one in _of_names(below).values() for split, names in one.items()}
    files: dict[str, list[str]] = {}
    for split, patterns in _patterns(config["data_files"]):
        rules = [re.compile(glob_translate(str(PurePosixPath(folder, str(one))))) for one in patterns]
        if matched := [path for path in below if any(rule.match(path) for rule in rules)]:
            files.setdefault(split, []).extend(matched)
    return files


def _patterns(data_files: object) -> list[tuple[str, list[Any]]]:
    """Each split with its patterns, of any form that a card may have."""
    if isinstance(data_files, dict):
        data_files = [{"split": split, "path": path} for split, path in data_files.items()]
    if isinstance(data_files, list) and all(isinstance(one, dict) for one in data_files):
        return [(str(one.get("split", _TRAIN)), _as_list(one.get("path"))) for one in data_files]
    return [(_TRAIN, _as_list(data_files))]


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _of_names(paths: Iterable[str]) -> _Splits:
    """The configurations and splits that names tell, as `CONFIG/train/0000.parquet`, `data/train-00000.parquet`."""
    splits: _Splits = {}
    for path in paths:
        if not _KINDS.search(path):
            continue
        first, *rest = path.split("/")
        split = next((name for name, rule in _SPLITS.items() if rule.search(path.lower())), _TRAIN)
        named = rest and first != "data" and not any(rule.search(first.lower()) for rule in _SPLITS.values())
        splits.setdefault(first if named else _DEFAULT, {}).setdefault(split, []).append(path)
    return splits
