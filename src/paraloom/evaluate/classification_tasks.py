"""Labeled texts to classify: folders of train and test files, or of one file in ten folds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Ints
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import SUFFIXES, decode, read_raw_lines

FOLDS = 10  # Folds of a task that has one file instead of train and test

_TRAIN, _DEV, _TEST, _ALL = ("train",), ("dev", "val", "valid"), ("test",), ("all",)
_FORMATS = (".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class LabeledTexts:
    labels: list[str]
    texts: list[str]
    # int64 `(n,)`, the fold of each; None for a file that is not divided into folds.
    folds: Ints | None = None


@dataclass(frozen=True, eq=False)
class ClassificationTask:
    """Texts to learn from, and texts to test with."""

    name: str
    train: LabeledTexts
    test: LabeledTexts | None = None
    dev: LabeledTexts | None = None


def find_classification_tasks(folder: str | Path, names: Iterable[str] | None = None) -> dict[str, Path]:
    """Find the tasks of a folder: the folder itself, or its subfolders."""
    root = Path(folder)
    if not root.is_dir():
        raise DataError("folder of labeled texts not found", file=root, remedy="Check the path.")
    if _is_task(root):
        tasks = {root.resolve().name: root}
    else:
        tasks = {path.name: path for path in sorted(root.iterdir()) if path.is_dir() and _is_task(path)}
    if not tasks:
        raise DataError(
            "classification tasks not found",
            file=root,
            remedy="The folder, or each of its subfolders, needs train.tsv and test.tsv with lines label<TAB>text.",
        )
    if names is None:
        return tasks
    wanted = list(names)
    for name in wanted:
        if name not in tasks:
            raise ConfigError(f"unknown classification task '{name}'{nearest(name, sorted(tasks))}")
    return {name: path for name, path in tasks.items() if name in wanted}


def read_classification_task(name: str, folder: Path) -> ClassificationTask:
    """Read a task of lines `label<TAB>text`; in a file `all`, folds are a first column or a hash of the text."""
    whole = _file(folder, _ALL)
    if whole is not None and _file(folder, _TRAIN) is None:
        texts = _read(whole, folds=True)
        _check_classes(texts, whole)
        return ClassificationTask(name, texts)
    train, test, dev = (_file(folder, names) for names in (_TRAIN, _TEST, _DEV))
    if train is None or test is None:
        missing = "test" if test is None else "train"
        raise DataError(
            f"{missing} file not found",
            file=folder,
            remedy=f"Add {missing}.tsv with lines label<TAB>text, or one file all.tsv for ten folds.",
        )
    learned = _read(train)
    _check_classes(learned, train)
    known = set(learned.labels)
    parts = [_read(path) if path is not None else None for path in (test, dev)]
    for path, part in zip((test, dev), parts, strict=True):
        if part is not None and (unknown := sorted(set(part.labels) - known)):
            raise DataError(
                f"class '{unknown[0]}' is not in {train.name}, which has {', '.join(sorted(known))[:80]}",
                file=path,
                row=part.labels.index(unknown[0]) + 1,
                remedy="Both files need the same classes, in the first column.",
            )
    return ClassificationTask(name, learned, parts[0], parts[1])


def _is_task(folder: Path) -> bool:
    return any(_file(folder, names) is not None for names in (_TRAIN, _TEST, _ALL))


def _file(folder: Path, stems: Iterable[str]) -> Path | None:
    names = (f"{stem}{kind}{suffix}" for stem in stems for kind in _FORMATS for suffix in ("", *SUFFIXES))
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read(path: Path, *, folds: bool = False) -> LabeledTexts:
    labels: list[str] = []
    texts: list[str] = []
    numbers: list[int] = []
    width = 0
    for row, line in enumerate(read_raw_lines(path), 1):
        fields = decode(line, path, row).split("\t")
        width = width or len(fields)
        if len(fields) != width or width not in (2, 3):
            expected = "label<TAB>text" if width not in (2, 3) else f"{width} fields as in the first row"
            raise DataError(
                f"expected {expected}, got {len(fields)} field{'s' * (len(fields) != 1)}",
                file=path,
                row=row,
                remedy="Write label<TAB>text without quoting, and no tabs in the text.",
            )
        with_fold = folds and width == 3
        label, text = fields[1] if with_fold else fields[0], fields[-1]
        if not label.strip():
            raise DataError("the label is empty", file=path, row=row, remedy="Fill it in, or remove the row.")
        if with_fold and not fields[0].isdecimal():
            raise DataError(f"expected the number of a fold, got '{fields[0][:40]}'", file=path, row=row)
        labels.append(label)
        texts.append(text)
        numbers.append(int(fields[0]) if with_fold else _fold(text))
    return LabeledTexts(labels, texts, np.array(numbers, np.int64) if folds else None)


def _fold(text: str) -> int:
    """The fold of a text: equal texts are in the same one."""
    return int.from_bytes(sha256(text.encode()).digest()[:8]) % FOLDS


def _check_classes(texts: LabeledTexts, path: Path) -> None:
    classes = sorted(set(texts.labels))
    if len(classes) < 2:
        raise DataError(
            f"expected two classes or more, got one: '{classes[0][:40]}'",
            file=path,
            remedy="The label is the first column (the second in all.tsv, after the fold).",
        )
    if texts.folds is not None and len(set(texts.folds.tolist())) < 2:
        raise DataError("all rows are in one fold", file=path, remedy="Give folds, or train.tsv and test.tsv.")
