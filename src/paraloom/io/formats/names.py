"""Names of files and folders that say in which format they are: Moses pairs, PPDB, folders of `datasets`."""

from __future__ import annotations

import re
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import NamedTuple

from paraloom.core.errors import ConfigError
from paraloom.io.compression import without_compression
from paraloom.text.language_names import known_language

SUFFIX = ".dataset"  # Suffix of a folder of Hugging Face `datasets` that is written; one that is read may have any name
STATE, INFO, SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"  # Files of such a folder

_BRACES = re.compile(r"(.*)\{([^{},]+),([^{},]+)\}([^{}]*)", re.DOTALL)
_SEPARATORS = re.compile(r"[._/ -]+")
_SIDES = frozenset(["src", "tgt", "trg", "ref", "hyp"])  # Names of sides that look like tags of languages
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_](?:[A-Z][a-z]{3}|[A-Za-z]{2}|\d{3}))*")


class Sides(NamedTuple):
    """The two files of a name with braces."""

    src: str
    tgt: str
    src_lang: str | None
    tgt_lang: str | None
    stem: str


def sides(source: str) -> Sides | None:
    """Expand a name with braces to two files."""
    match = _BRACES.fullmatch(source)
    if match is None:
        return None
    prefix, first, second, suffix = match.groups()
    folder, slash, _ = suffix.partition("/")
    if slash and Path(source[: match.start(4)] + folder).is_dir():
        return None
    name = Path(prefix + "_").name[:-1].rstrip(".") or _common_stem(first + suffix, second + suffix) or "pairs"
    return Sides(prefix + first + suffix, prefix + second + suffix, _language(first), _language(second), name)


def join_sides(src: str, tgt: str) -> str:
    """One name with braces for two files, as `sides` expands it."""
    for path in (src, tgt):
        if re.search("[{},]", path):
            raise ConfigError(
                "a name with a brace or a comma cannot be one of two files", file=path, remedy="Rename the file."
            )
    if src == tgt:
        raise ConfigError("both sides are the same file", file=src, remedy="Name the files of two sides.")
    if Path(src).is_absolute() != Path(tgt).is_absolute():
        src, tgt = str(Path(src).absolute()), str(Path(tgt).absolute())
    # An absolute path must not begin with a brace: it would be taken for a relative one.
    root = "/" if src.startswith("/") else ""
    return _with_one_part(src, tgt) or f"{root}{{{src[len(root) :]},{tgt[len(root) :]}}}"


def _with_one_part(src: str, tgt: str) -> str | None:
    """The name of two files that differ in one part between dots, such as PREFIX.{de,en}; else None."""
    (*folder, name), (*other_folder, other_name) = src.rpartition("/"), tgt.rpartition("/")
    parts, others = name.split("."), other_name.split(".")
    different = [index for index, (a, b) in enumerate(zip_longest(parts, others)) if a != b]
    if folder != other_folder or len(parts) != len(others) or len(different) != 1:
        return None
    index = different[0]
    if not (parts[index] and others[index]):
        return None
    parts[index] = f"{{{parts[index]},{others[index]}}}"
    return "".join([*folder, ".".join(parts)])


def _language(name: str) -> str | None:
    """The language that a name between the braces stands for: a tag that is not the name of a side, or one in it."""
    return name if _TAG.fullmatch(name) and name not in _SIDES else _last_language(name)


def _last_language(name: str) -> str | None:
    known = (known_language(part) for part in reversed(_SEPARATORS.split(name)))
    return next((language for language in known if language), None)


def languages_of_files(src: str, tgt: str) -> tuple[str, str] | None:
    """The languages of two files by their names (`a.de`, `a.en.txt.gz`), None unless both are known and differ."""
    first, second = (_last_language(without_compression(path).name) for path in (src, tgt))
    return (first, second) if first and second and first != second else None


def _common_stem(first: str, second: str) -> str:
    """Common beginning of the names of two files, up to a separator."""
    names = [without_compression(name).name for name in (first, second)]
    if names[0] == names[1]:
        return Path(names[0]).stem
    same = takewhile(lambda pair: pair[0] == pair[1], zip(*names, strict=False))
    common = "".join(a for a, _ in same)
    return common[: max(common.rfind(separator) for separator in "._-") + 1].rstrip("._-")


def is_dataset(path: str | Path) -> bool:
    """True if a path is a folder that `save_to_disk` wrote: of a data set, or of several splits."""
    folder = Path(path)
    return (folder / SPLITS).is_file() or ((folder / STATE).is_file() and (folder / INFO).is_file())
