"""What is to be translated is checked before any work: languages of both sides, costs, and copies."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from stage_runs import count_reasons, read_rows, run_toml, write_pairs

import paraloom as library
from paraloom.api import encode_file, mine_lines, search_lines
from paraloom.api.evaluate import evaluate_similarity
from paraloom.core.errors import DataError
from paraloom.core.protocols import Variant
from paraloom.io import Corpus, write_table
from paraloom.pairs.scoring.idf import count_document_frequencies
from paraloom.stages import pairs as pair_stages
from paraloom.stages.input_checks import SAMPLE_ROWS, Direction, check_scored_languages, read_sample
from paraloom.text import function_words, language_names

FRENCH = ["Je ne l'ai pas vu depuis hier, mais il viendra quand le repas sera sur la table, avec son frère."] * 60
SAMPLE = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[1] / "data/passages.de-en.tsv").read_text(encoding="utf-8").splitlines()[1:61]
]
GERMAN, ENGLISH = ([row[side] for row in SAMPLE] for side in (0, 1))
STAGE = '[[stage]]\nuse = "backtranslate"\ninput = "pairs"\n'


class Echo:
    """Translates into the same text; into nothing where the text begins with 'X'."""

    signature = "echo"

    def __init__(self, source: str | None = "de", target: str | None = "en") -> None:
        self.source, self.target = source, target

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(" " if text.startswith("X") else text, -1.0, 2)] for text in sentences]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Back-translate pairs with an `Echo` of a direction; the folder of the stage."""
    (tmp_path / "model").mkdir()

    def backtranslate(
        sources: Sequence[str], targets: Sequence[str], keys: str = "", languages: tuple[str | None, ...] = ("de", "en")
    ) -> Path:
        monkeypatch.setattr(pair_stages, "_translator", lambda folder, decode: Echo(*languages))
        if not (tmp_path / "pairs").exists():
            write_pairs(tmp_path / "pairs", *zip(sources, targets, strict=True))
        return run_toml(f'{STAGE}translator = "model"\n{keys}', tmp_path).stages[-1].folder

    return backtranslate


@pytest.mark.parametrize(
    ("sides", "keys", "languages", "message"),
    [
        ((ENGLISH, GERMAN), "", ("de", "en"), r"the sides are swapped: 'src' is English and 'tgt' is German .*x:\d"),
        (
            (GERMAN, ENGLISH),
            'side = "tgt"',
            ("de", "en"),
            r"the sides are swapped: 'tgt' is English and 'src' is German",
        ),
        (
            (ENGLISH, ENGLISH),
            "",
            ("de", "en"),
            r"both sides are English \(rows such as x:.*; the translator .* de → en",
        ),
        ((GERMAN, GERMAN), "", ("de", "en"), r"both sides are German"),
        ((GERMAN, GERMAN), "", (None, None), r"both sides are German"),
        ((FRENCH, ENGLISH), "", ("de", "en"), r"the text to translate, 'src', is French .* de → en.\nUse a translator"),
        ((GERMAN, FRENCH), "", ("de", "en"), r"the other side, 'tgt', is French .*paired with another language"),
        ((ENGLISH, GERMAN), "", ("deu", "eng"), r"swapped"),
    ],
)
def test_languages_that_do_not_fit_are_an_error_before_any_work(
    run: Callable[..., Path], tmp_path: Path, sides: tuple[list[str], list[str]], keys: str,
    languages: tuple[str | None, str | None], message: str,
) -> None:  # fmt: skip
    with pytest.raises(DataError, match=message):
        run(*sides, keys, languages)
    assert not list((tmp_path / "run").rglob("*.parquet"))
    assert run(*sides, f"{keys}\ncheck_languages = false\n", languages).is_dir()


@pytest.mark.parametrize(
    ("sides", "languages"),
    [
        ((GERMAN, ENGLISH), ("de", "en")),
        ((GERMAN, ENGLISH), (None, None)),
        ((ENGLISH[:2], GERMAN[:2]), ("de", "en")),  # too short
        ((["Tom", "OK"] * 30, ["Tom", "OK"] * 30), ("de", "en")),  # nothing to go by
        ((ENGLISH[:30] + GERMAN[30:], GERMAN[:30] + ENGLISH[30:]), ("de", "en")),  # mixed
        ((ENGLISH, ENGLISH), ("en", "en")),  # a translator of paraphrases
        ((GERMAN, ENGLISH), ("lb", "en")),  # Luxembourgish is not known: German is not denied
    ],
)
def test_what_is_unsure_or_fits_is_no_error(
    run: Callable[..., Path], sides: tuple[list[str], list[str]], languages: tuple[str | None, str | None]
) -> None:
    assert Corpus.open(run(*sides, "", languages)).rows == len(sides[0])


def test_empty_translations_are_rejected_with_a_reason(run: Callable[..., Path]) -> None:
    folder = run(["Hallo.", "X", "Na?"], ["Hello.", "Nothing", "Well?"])
    assert [row["pair_id"] for row in read_rows(folder)] == ["x:1", "x:3"]
    assert count_reasons(folder) == {"empty translation": 1}
    stage = json.loads((folder.parent / "run.json").read_text())["stages"][-1]
    assert {name: stage["counts"][name] for name in ("read", "kept", "rejected", "failed", "out")} == {
        "read": 3, "kept": 2, "rejected": 1, "failed": 0, "out": 2,
    }  # fmt: skip


def test_the_check_of_languages_does_not_change_the_digest() -> None:
    stage = library.stages.BackTranslate(translator="de-en")
    assert stage.digest() == library.stages.BackTranslate(translator="de-en", check_languages=False).digest()


def test_a_sample_is_spread_over_the_corpus(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", *((f"s{row}", f"t{row}") for row in range(3000)))
    corpus = Corpus.open(tmp_path / "pairs")
    sample = read_sample(corpus, ["src", "tgt"], "pair_id", seed=5)
    rows = [int(name.removeprefix("x:")) - 1 for name in sample.ids]
    assert len(set(rows)) == SAMPLE_ROWS and rows == sorted(rows)
    assert min(rows) < 100 and max(rows) > 2900
    assert sample.columns == {"src": [f"s{row}" for row in rows], "tgt": [f"t{row}" for row in rows]}
    assert read_sample(corpus, ["src"], "pair_id", seed=5).ids == sample.ids
    assert read_sample(corpus, ["src"], "pair_id", seed=6).ids != sample.ids


def test_directions_are_codes_of_two_letters() -> None:
    assert str(Direction.of(Echo("deu", "en-GB"))) == "de → en"
    assert str(Direction.of(Echo(None, "xyz"))) == "? → xyz"


@pytest.mark.slow
def test_costs_and_copies_are_in_run_json_and_warned_about_once(tmp_path: Path) -> None:
    german = GERMAN * 2
    copies = [variants[0].text for variants in library.Translator.load("de-en", check_costs=False).translate(german)]
    write_pairs(tmp_path / "pairs", *zip(german, copies, strict=True))
    text = f'{STAGE}translator = "{library.Translator.load("de-en").folder}"\ndecode = "sampling"\n'
    with pytest.warns(UserWarning, match="100% of its translations are equal to 'tgt': this text was translated"):
        result = run_toml(text, tmp_path)
    figures = json.loads((result.folder / "run.json").read_text())["stages"][-1]["figures"]
    assert figures["languages"] == {"src": "de", "tgt": "en"}
    assert figures["costs"]["sentences"] == 120 and figures["development_costs"]["sentences"] > 1000
    assert "this text was translated by the same translator already" in figures["warning"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = run_toml(text, tmp_path)
    assert again.digest == result.digest and again.stages[-1].figures == figures


@pytest.mark.slow
def test_the_costs_of_a_corpus_do_not_depend_on_workers(tmp_path: Path) -> None:
    folder = library.Translator.load("de-en").folder
    outcomes = []
    for workers in (1, 3):
        pairs = library.as_pairs(list(zip(GERMAN, ENGLISH, strict=True)), src_lang="de", tgt_lang="en")
        result = pairs.backtranslate(folder).write(tmp_path / f"{workers}.parquet", workers=workers)
        outcomes.append((result.digest, result.stages[-1].figures["costs"]))
    assert outcomes[0] == outcomes[1]


def test_an_object_of_this_process_is_checked_too() -> None:
    swapped = library.as_pairs(list(zip(ENGLISH, GERMAN, strict=True)))
    with pytest.raises(DataError, match="the sides are swapped"):
        swapped.backtranslate(Echo()).to_list()
    assert len(swapped.backtranslate(Echo(), check_languages=False)) == len(ENGLISH)


@pytest.mark.parametrize(
    ("sides", "models", "message"),
    [
        ((GERMAN, GERMAN), {"paraphrase_model": "paraphrases-en"}, "'src' is German, but the paraphrase model is for"),
        (
            (ENGLISH, ENGLISH),
            {"reverse_translator": "de-en"},
            "'tgt' is English, but the reverse translator .* de → en",
        ),
        ((GERMAN, GERMAN), {"scores": "judge"}, "'tgt' is German, but the bundled judge is for English"),
        ((GERMAN, ENGLISH), {"encoder": "english"}, "'src' is German, but the encoder is for English"),
        ((GERMAN, ENGLISH), {"encoder": "multilingual"}, ""),
        ((ENGLISH, ENGLISH), {"scores": "judge"}, ""),
        ((ENGLISH, ENGLISH), {"paraphrase_model": "paraphrases-en", "reverse_translator": "en-de"}, ""),
        ((GERMAN[:2], GERMAN[:2]), {"paraphrase_model": "paraphrases-en"}, ""),  # too short
    ],
)
def test_scores_of_models_for_other_languages_are_warned_about(
    sides: tuple[list[str], list[str]], models: dict[str, str], message: str
) -> None:
    scored = library.as_pairs(list(zip(*sides, strict=True))).score(**{"scores": "chrf", **models})  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not message:
            assert len(scored) == len(sides[0])
            return
        warnings.simplefilter("always")
        with pytest.warns(UserWarning, match=message):
            assert len(scored) == len(sides[0])


def test_bitext_is_not_scored_as_paraphrases() -> None:
    bitext = library.as_pairs(list(zip(GERMAN, ENGLISH, strict=True)))
    with pytest.raises(
        DataError, match=r"'src' is German and 'tgt' is English; p_paraphrase, by which presets"
    ) as error:
        len(bitext.filter(preset="strict"))
    assert error.value.remedy is not None and "paraloom backtranslate" in error.value.remedy
    assert len(bitext.score(["chrf"])) == len(GERMAN)


def test_a_bitext_too_small_to_identify_is_known_by_the_languages_of_its_rows(tmp_path: Path) -> None:
    for name in ("two.de-en.tsv", "two.tsv"):
        (tmp_path / name).write_text("Vyhral.\tZvíťazil.\nPrišiel.\tDorazil.\n", encoding="utf-8")
    with pytest.raises(DataError, match="'src' is German and 'tgt' is English; p_paraphrase, by which presets"):
        len(library.read_pairs(tmp_path / "two.de-en.tsv").filter(preset="strict"))
    assert len(library.read_pairs(tmp_path / "two.tsv").score([], paraphrase_model="paraphrases-en")) == 2


def test_every_language_has_a_name() -> None:
    assert set(function_words.known_function_words()) <= set(language_names._NAMES)


def test_an_encoder_of_one_language_that_learns_from_translations_is_warned_of(tmp_path: Path) -> None:
    for name, other in (("bitext", ENGLISH), ("copies", GERMAN[::-1])):
        write_table(library.as_pairs(list(zip(GERMAN, other, strict=True))).to_arrow(), tmp_path / f"{name}.parquet")
        with pytest.warns(UserWarning) as caught:
            library.train_encoder(tmp_path / f"{name}.parquet", tmp_path / name, dimension=4, epochs=1)
        of_both = [str(one.message) for one in caught if "'src' is German and 'tgt' is English" in str(one.message)]
        assert len(of_both) == (name == "bitext"), name


TURKISH = ("Neden böyle bir şey oldu?", "Bu çok güzel ama ben daha iyi değil diye düşünüyorum.", "Sen ve ben için yok.")


@pytest.mark.parametrize(("language", "warns"), [("und", True), ("tr", False)])
def test_rules_for_english_warn_of_pairs_of_another_language_that_do_not_state_it(language: str, warns: bool) -> None:
    rows = [{"src": text, "tgt": text, "src_lang": language, "tgt_lang": language} for text in TURKISH * 4]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scored = library.as_pairs(rows).score("meaning").to_list()
    messages = [str(warning.message) for warning in caught if "seem to be in Turkish" in str(warning.message)]
    assert len(messages) == warns and (scored[0]["negation_mismatch"] is None) != warns


def test_an_encoder_of_another_language_is_warned_of_wherever_it_reads(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in TURKISH), encoding="utf-8")
    task = tmp_path / "task.tsv"
    task.write_text("".join(f"{number}\t{line}\t{TURKISH[0]}\n" for number, line in enumerate(TURKISH)))
    uses: dict[str, Callable[[str], object]] = {
        "search": lambda name: list(search_lines(name, text, text, k=1)),
        "mine": lambda name: mine_lines(name, text, str(tmp_path / "mined.tsv"), above=0),
        "encode": lambda name: encode_file(name, text, tmp_path / "vectors.npy"),
        "evaluate": lambda name: evaluate_similarity(name, task, resamples=0),
    }
    for use in uses.values():
        with pytest.warns(UserWarning, match="the text seems to be in Turkish, but the encoder is of English"):
            use("english")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            use("multilingual")
        assert not [warning for warning in caught if "seems to be" in str(warning.message)]


def test_word_counts_of_another_language_know_few_words(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", *zip(ENGLISH, ENGLISH, strict=True))
    for language, texts in (("german", GERMAN), ("english", ENGLISH)):
        count_document_frequencies([texts]).save(tmp_path / language)
    stage = '[[stage]]\nuse = "score"\ninput = "pairs"\nscores = []\nword_counts = '
    with pytest.warns(UserWarning, match=r"the word counts have \d+% of the words of the pairs.*in the language of"):
        run_toml(f'{stage}"german"', tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_toml(f'{stage}"english"', tmp_path)


@pytest.mark.parametrize(("codes", "warns"), [(["en"], True), (["multilingual"], False), (["und"], False), ([], False)])
def test_a_model_whose_card_names_no_language_is_not_denied(codes: list[str], warns: bool, tmp_path: Path) -> None:
    write_pairs(tmp_path / "in", *zip(GERMAN, GERMAN, strict=True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figures = check_scored_languages(Corpus.open(tmp_path / "in"), languages={"encoder": codes})
    assert ("warning" in figures, bool(caught)) == (warns, warns)
