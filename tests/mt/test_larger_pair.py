"""examples/larger_pair.py on the made-up pair, every step in little, and what continued_pair.py learns from."""

from __future__ import annotations

import gzip
import importlib
import json
import lzma
import tomllib
from pathlib import Path

import pytest
from in_process import EXAMPLES, run_script
from toy_language import bitext

from paraloom.mt import Translator

MINUTES = ("teachers=.01", "translations=.01", "students=.01")


def write_data(root: Path) -> None:
    """Every file that the recipe names, with sentences of its own."""
    recipe = tomllib.loads((EXAMPLES / "larger-pair.toml").read_text(encoding="utf-8"))
    for seed, (_, name, *keys) in enumerate([*recipe["de"]["free"], *recipe["de"]["others"], *recipe["de"]["tests"]]):
        pairs = bitext(300, seed=seed + 2)
        if name in (file for _, file, *_ in recipe["de"]["tests"]):
            # In a language of few words every sentence is near to one of a test: tests have words of their own.
            pairs = [(foreign[::-1], english[::-1]) for foreign, english in pairs]
        columns = {key: number for key, number in (keys[0] if keys else {}).items() if key.endswith("column")}
        width = max(columns.values(), default=2)
        rows = [[""] * width for _ in pairs]
        for row, (kal, english) in zip(rows, pairs, strict=True):
            row[columns.get("src_column", 1) - 1], row[columns.get("tgt_column", 2) - 1] = kal, english
        file = root / name.replace("{x}", "de")
        file.parent.mkdir(parents=True, exist_ok=True)
        if "{" in file.name:
            for side, code in enumerate(("de", "en")):
                path = file.with_name(file.name.replace("{de,en}", code))
                path.write_bytes(gzip.compress("".join(f"{row[side]}\n" for row in rows).encode()))
        elif not file.is_file():
            skipped = [["x", "y", *[""] * (width - 2)]] * (keys[0].get("skip", 0) if keys else 0)
            file.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in skipped + rows).encode()))
    (root / "sentences-en").mkdir()
    for seed, name in enumerate(recipe["english"]):
        lines = "".join(f"{english}\n" for _, english in bitext(60, seed=seed + 100))
        (root / f"sentences-en/{name}.txt.xz").write_bytes(lzma.compress(lines.encode()))


def run(root: Path, folder: Path, *options: str) -> str:
    command = (folder, "--limit", 300, *options, "--minutes", *MINUTES)
    done = run_script(EXAMPLES / "larger_pair.py", *command, data=root)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_all_steps_and_resuming(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    folder = tmp_path / "run"
    assert "translations-1" in run(tmp_path / "data", folder, "--until", "translations-1")
    # Killed in the middle of a line: the line is translated again, the others stay.
    file = folder / "translations-1/de-en.tsv"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole[: len(whole) // 2].rstrip("\n"), encoding="utf-8")
    (folder / "translations-1.done").unlink()
    printed = run(tmp_path / "no-data", folder)
    assert "data:" not in printed and "teachers-1:" not in printed
    assert file.read_text(encoding="utf-8").startswith(whole[: len(whole) // 2].rpartition("\n")[0])
    rows = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    assert len(rows) == 2 * 2 * 4
    for direction in ("de-en", "en-de"):
        student = Translator.load(folder / "students" / direction)
        assert student.costs is not None and "mpl-2.0" in (student.folder / "README.md").read_text(encoding="utf-8")
        assert student.translate("rako gor mili dasat" if direction == "de-en" else "the dog sees the cat")
    assert run(tmp_path / "no-data", folder) == ""


def test_what_a_continued_pair_learns_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The likely ones of 10 translations; choices both ways; a tag before German of a beam; teachers: bitext alone."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    recipe = importlib.import_module("continued_pair")
    monkeypatch.setattr(recipe, "PAIRS", {"once": ("", {}, 1), "twice": ("", {}, 2), "half": ("", {}, 0.5)})
    monkeypatch.setattr(recipe, "FOR_TEACHERS", {"news": ("", {}, 1)})
    monkeypatch.setattr(recipe, "ENGLISH", {"posts": ([], 0, 10, 10)})
    monkeypatch.setattr(recipe, "LIKELY", 0.65)
    monkeypatch.setattr(recipe, "SURE", 0.55)
    (tmp_path / "data").mkdir()
    for name in recipe.PAIRS | recipe.FOR_TEACHERS:
        with gzip.open(tmp_path / f"data/{name}.tsv.gz", "wt") as stream:
            stream.write("".join(f"{name} d{number}\t{name} e{number}\n" for number in range(2)))
    costs = [(number / 10, number / 10) for number in range(9)] + [(0.1, 2.0)]  # the last is likely one way only
    for name, mark in (("choices", "c"), ("backtranslations", "b")):
        (tmp_path / name).mkdir()
        rows = (f"{mark}e{n}\t{mark}d{n}\t{a}\t{b}\n" for n, (a, b) in enumerate(costs))
        (tmp_path / name / "posts.tsv").write_text("".join(rows))
    bitext = [("once d0", "once e0"), ("once d1", "once e1"), ("half d0", "half e0")]
    bitext += 2 * [("twice d0", "twice e0"), ("twice d1", "twice e1")]
    both = recipe.ABLATION["both"]
    chosen = recipe.REPEATED * [(f"cd{n}", f"ce{n}") for n in range(6)]
    pairs = recipe.training_pairs(tmp_path, "en-de", both, 1)
    beam = [(f"be{n}", f"bd{n}") for n in range(6)]
    assert sorted(pairs) == sorted([(b, a) for a, b in bitext + chosen] + beam)
    pairs = recipe.training_pairs(tmp_path, "de-en", both, 1)
    tagged = [(f"<BT> bd{n}", f"be{n}") for n in range(7)]
    assert sorted(pairs) == sorted(bitext + chosen + tagged)
    assert sorted(recipe.training_pairs(tmp_path, "de-en-2", [], 1)) == sorted(bitext)
    half = [row for row in bitext if row[0].endswith("d0")]
    assert sorted(recipe.training_pairs(tmp_path, "de-en", ["backtranslations"], 2)) == sorted(half + tagged)
    news = [("news d0", "news e0"), ("news d1", "news e1")]
    assert sorted(recipe.training_pairs(tmp_path, "teacher-de-en", both, 1)) == sorted(bitext + news)
