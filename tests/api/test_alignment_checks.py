"""What `align sentences` says of wrong input: lengths, languages, swapped sides, delimiters, orders."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from paraloom.api import align_files
from paraloom.api import alignment as workflow
from paraloom.api.alignment import AlignFilesConfig, AlignFilesSettings
from paraloom.api.alignment_checks import NamedText, check_delimiters, warn_of_languages, warn_of_lengths
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.io.formats.alignments import read_bead_file

Command = Callable[..., tuple[int, str, str]]

PASSAGES = Path(__file__).parents[1] / "data/passages.de-en.tsv"
ROWS = [line.split("\t") for line in PASSAGES.read_text(encoding="utf-8").splitlines()[1:61]]
GERMAN, ENGLISH = ([row[side] for row in ROWS] for side in (0, 1))


class Copier:
    """Translates into the same text; only its languages matter."""

    signature = "copier"

    def __init__(self, source: str | None, target: str | None) -> None:
        self.source, self.target = source, target

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(text, -1.0, 2)] for text in sentences]


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    """A German text and an English one, whose names say nothing."""
    return write(tmp_path / "first.txt", GERMAN), write(tmp_path / "second.txt", ENGLISH)


def messages(call: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught if "unknown tokens only" not in str(warning.message)]


def test_right_input_gives_no_warning(texts: tuple[Path, Path], tmp_path: Path) -> None:
    options = {"translator": Copier("de", "en"), "src_lang": "de", "tgt_lang": "en"}
    assert messages(lambda: align_files(*texts, tmp_path / "out.vecalign", **options)) == []


def test_an_empty_side_is_an_error(paraloom: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.de", ["", " "])
    write(tmp_path / "a.en", ["one"])
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "-o", "out.vecalign")
    assert status == 1 and "a.de: the file has no sentences" in message and "Write a sentence per line" in message


def test_a_side_that_is_a_hundred_times_longer_is_warned_about(paraloom: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.de", ["Der Hund."])
    write(tmp_path / "a.en", ["The dog.", *[f"sentence {k:05}." for k in range(60)]])
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "-o", "out.vecalign")
    assert status == 0
    assert "a.en is 101 times longer than a.de (61 and 1 sentences)" in message and "paraloom mine" in message


def test_the_limit_of_lengths() -> None:
    short, long = NamedText("short", ["x" * 10]), NamedText("long", ["x" * 33] * 3)
    assert messages(lambda: warn_of_lengths(short, long)) == []
    (message,) = messages(lambda: warn_of_lengths(NamedText("long", ["x" * 50] * 2), short))
    assert message.startswith("long is 10 times longer than short (2 and 1 sentences)")


def test_the_same_language_on_both_sides_is_warned_about(paraloom: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.txt", ENGLISH[:30])
    write(tmp_path / "b.txt", ENGLISH[:30])
    arguments = ("align", "sentences", "a.txt", "b.txt", "-o", "out.vecalign")
    status, _, message = paraloom(*arguments)
    assert status == 0 and "both texts seem to be English: a.txt and b.txt" in message
    assert "--src-lang en --tgt-lang en" in message
    _, _, message = paraloom(*arguments, "--src-lang", "en", "--tgt-lang", "en", "--force")
    assert "both texts" not in message


def test_sides_that_are_swapped_against_the_translator_are_warned_about(
    texts: tuple[Path, Path], tmp_path: Path
) -> None:
    (message,) = messages(lambda: align_files(*texts, tmp_path / "out.vecalign", translator=Copier("en", "de")))
    assert message.startswith(f"the sides are swapped: {texts[0]} is German and {texts[1]} is English")
    assert "the translator translates en → de" in message and "Swap the files" in message


def test_a_translator_of_other_languages_is_warned_about(texts: tuple[Path, Path], tmp_path: Path) -> None:
    (message,) = messages(lambda: align_files(*texts, tmp_path / "out.vecalign", translator=Copier("fr", "en")))
    assert message.startswith(f"{texts[0]} is German, but the translator translates fr → en")
    (message,) = messages(lambda: align_files(*texts, tmp_path / "out.vecalign", translator=Copier("de", "fr")))
    assert message.startswith(f"{texts[1]} is English, but the translator translates de → fr")
    unknown = Copier(None, None)
    assert messages(lambda: align_files(*texts, tmp_path / "out.vecalign", translator=unknown)) == []


def test_sides_that_are_swapped_against_their_declared_languages_are_warned_about(
    texts: tuple[Path, Path], tmp_path: Path
) -> None:
    (message,) = messages(lambda: align_files(*texts, tmp_path / "out.tsv", src_lang="en", tgt_lang="de"))
    assert message.startswith(f"the sides are swapped: {texts[0]} is German and {texts[1]} is English")
    assert "they are said to be en and de" in message


def test_the_languages_of_sentences_are_those_in_the_names_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("Ein Hund schläft.\nDie Katze frisst.\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("A dog sleeps.\nThe cat eats.\n", encoding="utf-8")
    align_files(tmp_path / "a.de", tmp_path / "a.en", tmp_path / "out.tsv")
    align_files(tmp_path / "a.de", tmp_path / "a.en", tmp_path / "said.tsv", tgt_lang="en-GB")
    written = [(tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("out.tsv", "said.tsv")]
    assert [{tuple(line.split("\t")[3:5]) for line in lines[1:]} for lines in written] == [
        {("de", "en")},
        {("de", "en-GB")},
    ]


def test_an_encoder_of_other_languages_is_warned_about(
    texts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraloom.api.models.encoder_languages", lambda encoder: ["cs", "en"])
    vectors = workflow._default_encoder()
    (message,) = messages(lambda: align_files(*texts, tmp_path / "out.vecalign", encoder=vectors))
    assert message.startswith(f"{texts[0]} is German, but the encoder is of Czech, English")


def test_languages_that_cannot_be_identified_are_not_denied() -> None:
    short = NamedText("a", ["OK"]), NamedText("b", ["Version 2"])
    assert messages(lambda: warn_of_languages(*short, declared=("de", "en"), encoder=["cs"])) == []


def test_different_numbers_of_delimiters_say_where_the_texts_diverge(paraloom: Command, tmp_path: Path) -> None:
    """The second delimiter is missing in the target: part 2 has 30 lines there, and 10 in the source."""
    source = [*["x" * 9] * 20, "##", *["x" * 9] * 10, "##", *["x" * 9] * 20, "##", "x" * 9]
    target = [*["y" * 9] * 20, "##", *["y" * 9] * 30, "##", "y" * 9]
    write(tmp_path / "a.de", source)
    write(tmp_path / "a.en", target)
    arguments = ("align", "sentences", "a.de", "a.en", "--hard-delimiter", "##", "-o", "out.vecalign")
    status, _, message = paraloom(*arguments)
    assert status == 1 and "a.de, row 22" in message
    assert "a.de has 3 delimiters '##', a.en has 2; part 2 is the first that differs much in length" in message
    assert "rows 22 to 31 of a.de, rows 22 to 51 of a.en" in message


def test_a_delimiter_at_the_end_of_one_text_only() -> None:
    source, target = NamedText("a.de", ["x", "##", "y"]), NamedText("a.en", ["x", "##", "y", "##"])
    with pytest.raises(DataError, match=r"a\.en, row 4: .* only a\.en has one at its end"):
        check_delimiters(source, target, "##")
    check_delimiters(source, source, "##")


def test_a_delimiter_that_one_text_lacks() -> None:
    source, target = NamedText("a.de", ["x", "##", "y"]), NamedText("a.en", ["x", "y"])
    with pytest.raises(DataError, match="part 1 is the first"):
        check_delimiters(source, target, "##")


def test_the_order_local_lets_passages_cross(paraloom: Command, tmp_path: Path) -> None:
    lines = [f"alpha{k} beta{k} gamma{k} delta{k}" for k in range(30)]
    write(tmp_path / "a.de", lines)
    write(tmp_path / "a.en", lines[12:] + lines[:12])
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "--order", "local", "-o", "out.vecalign")
    assert status == 0, message
    beads = read_bead_file(tmp_path / "out.vecalign").beads
    assert [(bead.source, bead.target) for bead in beads] == [((k,), ((k - 12) % 30,)) for k in range(30)]


def test_keywords_are_the_fields_of_the_configuration() -> None:
    assert [field.name for field in fields(AlignFilesConfig)] == list(AlignFilesSettings.__annotations__)


def test_orders_that_cannot_be() -> None:
    for options, expected in (
        ({"order": "any"}, "unknown order 'any'"),
        ({"order": "local", "method": "length"}, "method 'length' aligns texts in the same order only"),
        ({"order": "local", "method": "park17"}, "method 'park17' aligns texts in the same order only"),
    ):
        with pytest.raises(ConfigError, match=expected):
            align_files("a", "b", "out.vecalign", **options)
    with pytest.raises(ConfigError, match="the beads of a ladder cannot cross"):
        align_files("a", "b", "out.ladder", order="local")


def test_an_aligner_is_scored_in_either_order(paraloom: Command, tmp_path: Path) -> None:
    lines = [f"alpha{k} beta{k} gamma{k} delta{k}" for k in range(30)]
    gold = [[[k], [(k - 12) % 30]] for k in range(30)]
    document = {"source": lines, "target": lines[12:] + lines[:12], "gold": gold}
    write(tmp_path / "gold.jsonl", [json.dumps(document)])
    recalls = {}
    for order in ("strict", "local"):
        status, shown, message = paraloom("evaluate", "aligner", "gold.jsonl", "--order", order, "--json")
        assert status == 0, message
        recalls[order] = json.loads(shown)["strict"]["recall"]
    assert recalls == {"strict": pytest.approx(18 / 30), "local": 1.0}
    status, _, message = paraloom("evaluate", "aligner", "gold.jsonl", "--order", "locale")
    assert status == 1 and "unknown order 'locale'; did you mean 'local'?" in message
