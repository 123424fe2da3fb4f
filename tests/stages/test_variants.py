"""Stages of variants: each text is translated several times, and turned into pairs to train on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from stage_runs import count_reasons, read_rows, run_toml, write_pairs

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.io import Corpus
from paraloom.mt import Diverse, Nucleus
from paraloom.mt.choice import diverse_variants
from paraloom.stages import variants as stage

SENTENCES = '[[stage]]\nuse = "read-sentences"\ntext_files = ["mono.txt"]\n'
TRANSLATE = '[[stage]]\nuse = "translate-variants"\n'
TO_BITEXT = '[[stage]]\nuse = "variants-to-bitext"\n'


class EchoTranslator:
    """Answers with the name of its folder, the text in capitals and the rank, as often as the decoding asks for."""

    def __init__(self, folder: Path, decoding: object) -> None:
        self.signature = f"echo|{folder.name}"
        self.name, self.nbest = folder.name, decoding.nbest  # type: ignore[attr-defined]

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [
            [Variant(f"{self.name} {text.upper()} {rank}", -1.0 - rank, 3) for rank in range(self.nbest)]
            if text
            else [Variant("", 0.0, 0)]
            for text in sentences
        ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three translators that echo."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model").write_text(name)
    monkeypatch.setattr(stage, "_translator", EchoTranslator)
    return tmp_path


def test_text_becomes_variants_and_training_pairs(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog sleeps.\n\nA cat runs.\n")
    result = run_toml(
        f'{SENTENCES}{TRANSLATE}translator = ["one"]\nmethod = "nucleus"\n{TO_BITEXT}src_lang = "tr"\ntag = "<BT>"\n',
        folder,
    )
    sentences, variants, bitext = result.stages
    assert (sentences.counts.kept, sentences.counts.rejected) == (2, 1)
    assert (variants.counts.read, variants.counts.kept, variants.counts.out) == (2, 2, 6)
    rows = read_rows(variants.folder)
    assert [row["rank"] for row in rows] == [0, 1, 2] * 2
    assert {row["method"] for row in rows} == {"nucleus"}
    assert [row["pair_id"] for row in rows] == ["mono.txt:0"] * 3 + ["mono.txt:2"] * 3
    first = read_rows(bitext.folder)[0]
    assert (first["src"], first["tgt"]) == ("<BT> one A DOG SLEEPS. 0", "A dog sleeps.")
    assert (first["src_lang"], first["tgt_lang"], first["origin"]) == ("tr", "en", "mono.txt")


def test_variants_are_ranked_in_the_order_of_the_translators(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    result = run_toml(f'{SENTENCES}{TRANSLATE}translator = ["two", "one"]\ndecode = "beam:5"\n', folder)
    rows = read_rows(result.stages[-1].folder)
    assert [(row["rank"], row["text"]) for row in rows] == [(0, "two A DOG. 0"), (1, "one A DOG. 0")]
    schema = Corpus.open(result.stages[-1].folder).schema
    assert schema.field("text").metadata[b"signature"] == b"echo|two + echo|one"


def test_the_method_syntax_takes_a_translator_for_each_output(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    text = f'{SENTENCES}{TRANSLATE}translator = ["one", "two", "three"]\nmethod = "syntax"\n'
    rows = read_rows(run_toml(text, folder).stages[-1].folder)
    assert [row["text"] for row in rows] == [f"{name} A DOG. 0" for name in ("one", "two", "three")]
    with pytest.raises(ConfigError, match="'syntax' with 3 outputs takes 3 translators, not 1"):
        run_toml(text.replace('["one", "two", "three"]', '["one"]'), folder)


def test_one_side_of_pairs_is_translated(folder: Path) -> None:
    write_pairs(folder / "pairs", ("ein Hund", "a dog"), ("", "a cat"))
    text = f'{TRANSLATE}input = "pairs"\ntranslator = ["one"]\ndecode = "beam:5,nbest=2"\n'
    variants, bitext = run_toml(f'{text}{TO_BITEXT}src_lang = "en"\n', folder).stages
    assert [row["text"] for row in read_rows(variants.folder)] == ["one EIN HUND 0", "one EIN HUND 1", ""]
    assert [row["tgt"] for row in read_rows(bitext.folder)] == ["ein Hund"] * 2
    assert count_reasons(bitext.folder) == {"empty": 1}
    assert (bitext.counts.read, bitext.counts.kept, bitext.counts.rejected) == (3, 2, 1)
    rows = read_rows(run_toml(text + 'column = "tgt"\n', folder).stages[-1].folder)
    assert [row["text"] for row in rows] == [f"one A {name} {rank}" for name in ("DOG", "CAT") for rank in (0, 1)]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("", "expected one of the keys 'decode' and 'method'"),
        ('decode = "beam"\nmethod = "beam"', "expected one of the keys 'decode' and 'method'"),
        ('method = "nuclear"', "did you mean 'nucleus'"),
        ('method = "beam"\noutputs = 0', "'outputs' must be at least 1"),
        ('decode = "baem"', "did you mean 'beam'"),
        ('decode = "beam"\ntranslator = []', "key 'translator' is empty"),
        ('decode = "beam"\ncolumn = "source"', "key 'column' must be"),
    ],
)
def test_invalid_settings_of_a_translation_are_refused(folder: Path, keys: str, message: str) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    translators = "" if "translator" in keys else 'translator = ["one"]\n'
    with pytest.raises(ConfigError, match=message):
        run_toml(f"{SENTENCES}{TRANSLATE}{translators}{keys}\n", folder)


def test_a_missing_column_is_named(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    with pytest.raises(DataError, match="column 'src' to translate not found"):
        run_toml(f'{SENTENCES}{TRANSLATE}translator = ["one"]\ndecode = "beam"\ncolumn = "src"\n', folder)


def test_samples_of_a_translator_are_reproducible(toy_translator: Path, tmp_path: Path) -> None:
    lines = ["rako gor mili dasat", "mili tavo kirat", "numa vet olva fenat"]
    text = f'{SENTENCES}{TRANSLATE}name = "sampled"\ntranslator = ["{toy_translator}"]\nmethod = "sampling"\n'
    results = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mono.txt").write_text("".join(f"{line}\n" for line in lines))
        results.append(read_rows(run_toml(text, tmp_path / name).stages[-1].folder))
    assert results[0] == results[1]
    assert len(results[0]) == 9 and all(row["logprob"] < 0 for row in results[0])


def test_a_variant_that_is_a_test_sentence_is_rejected(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\nA cat.\n")
    write_pairs(folder / "test", ("One A DOG 0!", "ein Hund"))
    result = run_toml(
        f'{SENTENCES}{TRANSLATE}translator = ["one"]\nmethod = "beam"\noutputs = 2\n'
        f'{TO_BITEXT}src_lang = "tr"\ntag = "<BT>"\nheld_out = ["test"]\n',
        folder,
    ).stages[-1]
    assert [row["src"] for row in read_rows(result.folder)] == ["<BT> one A CAT. 0", "<BT> one A CAT. 1"]
    near = "src: near-duplicate: near a held-out text"
    assert count_reasons(result.folder) == {"src: in a held-out corpus": 1, near: 1}


def test_the_chosen_variants_are_good_and_unlike_each_other() -> None:
    texts = ["a dog sleeps", "a dog sleeps.", "the animal is asleep", "a dog sleeps", "xx"]
    samples = [Variant(text, logprob, 3) for text, logprob in zip(texts, [-1.0, -1.2, -2.0, -0.9, -9.0], strict=True)]
    chosen = diverse_variants([samples], Diverse(samples=5, nbest=2, utility="forward"))[0]
    assert [(one.text, one.logprob) for one in chosen] == [("a dog sleeps", -0.9), ("the animal is asleep", -2.0)]


def test_the_reading_of_fairseq_is_another_decoding(folder: Path) -> None:
    plain = stage.TranslateVariants(translator=("one",), method="nucleus")
    fairseq = stage.TranslateVariants(translator=("one",), method="nucleus", fairseq=True)
    assert (plain.decoding, fairseq.decoding) == (Nucleus(0.95, 3), Nucleus(0.95, 3, samples=5))
    assert "fairseq" not in plain.configuration() and fairseq.configuration()["fairseq"] is True
