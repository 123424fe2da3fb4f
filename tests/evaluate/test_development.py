"""Tasks that choose share no pairs with those that test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.evaluate.development import read_development
from paraloom.evaluate.sts_tasks import TASKS


class Lengths:
    """Vectors of one number, the length of a text, and a constant."""

    signature = "lengths"
    dimension = 2

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[len(text), 10.0] for text in texts], np.float32)


def write(folder: Path, **files: list[str]) -> Path:
    for name, pairs in files.items():
        path = folder / {"dev": "stsbenchmark/sts-dev.tsv", "test": "2012/MSRpar.test.tsv"}.get(name, f"{name}.tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{score}\t{pair}\n" for score, pair in enumerate(pairs)), encoding="utf-8")
    return folder


def test_pairs_of_the_test_are_dropped_whatever_their_order_case_and_punctuation(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        dev=["A dog runs.\ta cat", "stocks fell\tprices rose", "new\tother one", "x y z\tyz"],
        test=["a cat\ta dog runs", "Prices rose!\tstocks fell", "new\tsentence"],
    )
    development = read_development(folder)
    assert development.shared == {"STS-B/dev": (2, 4)}
    assert development.tasks[0].first == ["new", "x y z"]
    assert development.describe() == "STS-B/dev (2 of 4 pairs); without 2 pairs that test tasks have, too"
    # Cosines of (3, 10), (9, 10) and of (5, 10), (2, 10): of two pairs the correlation is a sign.
    assert development.figures(Lengths()) == {"dev_pearson": pytest.approx(100)}


def test_shared_pairs_are_refused_unless_they_are_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, dev=["a\tb", "c\td", "e\tf"], test=["b\ta", "g\th"])
    with pytest.raises(ConfigError, match=r"test tasks have 1 of 3 pairs of STS-B/dev, too") as error:
        read_development(folder, "STS-B/dev")
    assert "STS-B/dev?overlap=drop" in str(error.value.remedy)
    assert len(read_development(folder, "STS-B/dev?overlap=drop").tasks[0].scores) == 2
    assert len(read_development(folder, "STS-B/dev?overlap=keep").tasks[0].scores) == 3
    with pytest.raises(ConfigError, match="unknown setting 'overlap=no'"):
        read_development(folder, "STS-B/dev?overlap=no")


def test_files_of_users_are_compared_with_each_other(tmp_path: Path) -> None:
    folder = write(tmp_path, mine=["a\tb", "c\td", "e\tf"], yours=["b\ta", "g\th"], others=["i\tj", "k\tl"])
    with pytest.raises(ConfigError, match="3 files of your own"):
        read_development(folder)
    with pytest.raises(ConfigError, match="1 of 3 pairs of mine/pairs"):
        read_development(folder, "mine/pairs")
    assert read_development(folder, "others/pairs").shared == {"others/pairs": (0, 2)}
    assert read_development(folder / "mine.tsv").shared == {"mine/pairs": (0, 3)}
    write(folder, all=["b\ta", "c\td", "e\tf"])
    with pytest.raises(ConfigError, match="have all pairs of the development tasks"):
        read_development(folder, "mine/pairs?overlap=drop")


def test_most_of_the_benchmark_s_development_pairs_are_test_pairs_of_the_years(data: Path) -> None:
    development = read_development(data / "sts")
    shared, total = development.shared["STS-B/dev"]
    assert total == 1500
    assert 1100 < shared < 1130
    assert len(development.tasks) == 6
    assert sum(len(task.scores) for task in development.tasks) > 7000
    assert {task.task for task in development.tasks} <= set(TASKS)
