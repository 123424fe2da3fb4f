"""The experiment on back-translation: its stages, its file, its work and the tables of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toy_experiment import write_experiment

from paraloom.core.errors import ConfigError
from paraloom.papers.bbh22.experiment import cost_statement, stage_tables
from paraloom.papers.bbh22.experiment_config import Experiment, read_experiment
from paraloom.papers.bbh22.results import ExperimentResult, MethodResult, format_methods
from paraloom.pipeline.toml import pipeline_from_tables

TABLE = {"source": "a.tsv"}


def experiment(**changes: Any) -> Experiment:
    known: dict[str, Any] = {"src_lang": "tr", "tgt_lang": "en", "parallel": (TABLE,), "development": TABLE}
    return Experiment(**{**known, "monolingual": ({"text_files": ["m"]},), "tests": {"news": TABLE}, **changes})


def stages(**changes: Any) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in stage_tables(experiment(**changes))}


def test_joined_text_keeps_sentences_that_one_of_its_parts_allows() -> None:
    assert "max_length" not in stages()["monolingual-all"]
    texts = ({"text_files": ["m"], "max_length": 900}, {"text_files": ["n"]})
    assert stages(monolingual=texts)["monolingual-all"]["max_length"] == 900


def test_each_method_back_translates_trains_and_is_evaluated() -> None:
    named = stages(methods=("none", "nucleus"), seeds=2, weights=(1, 2), tag="<BT>")
    assert named["back"]["bitext"] == ["turned"] and named["turned"]["swap"]
    assert named["variants-nucleus"]["translator"] == ["back"]
    assert named["made-nucleus"]["src_lang"] == "tr" and named["made-nucleus"]["tag"] == "<BT>"
    assert named["final-none-1"]["bitext"] == ["parallel"] and "weights" not in named["final-none-1"]
    assert named["final-nucleus-2"]["bitext"] == ["parallel", "made-nucleus"]
    assert named["final-nucleus-2"]["weights"] == [1, 2] and named["final-nucleus-2"]["special_tokens"] == ["<BT>"]
    assert named["test-news-nucleus-2"]["pairs"] == "test-news"
    assert named["back-on-news"]["translator"] == "back" and named["back-on-news"]["pairs"] == "turned-news"
    assert named["turned-news"]["corpora"] == ["test-news"] and named["turned-news"]["swap"]
    assert "variants-none" not in named


def test_test_sentences_are_not_trained_on() -> None:
    named = stages()
    assert named["parallel"]["held_out"] == ["development", "test-news"]
    # The back-translation of another translation of a test sentence may be that sentence.
    assert named["made-base"]["held_out"] == ["development", "test-news"]
    # Sentences of the parallel text do not count as monolingual.
    assert named["monolingual-clean"]["held_out"] == ["development", "test-news", "parallel"]


def test_pairs_may_be_a_sample_of_a_file() -> None:
    sampled = {**TABLE, "sample": 1500, "sets": "s.tsv"}
    named = stages(tests={"news": sampled}, development={"source": "b.tsv", "sample": 40, "origin": "dev"})
    assert named["whole-test-news"]["source"] == TABLE["source"] and "sample" not in named["whole-test-news"]
    names = list(named)
    for name, rows in (("test-news", 1500), ("development", 40)):
        assert named[name] == {"name": name, "use": "filter", "sample": rows}
        assert names.index(name) == names.index(f"whole-{name}") + 1
    assert named["test-news-base-1"]["sets"] == "s.tsv"
    assert named["parallel"]["held_out"] == ["development", "test-news"]
    named = stages(parallel=({**TABLE, "sample": 70}, TABLE))
    assert named["whole-parallel-1"]["use"] == "read-pairs" and named["parallel-1"]["sample"] == 70
    assert named["parallel-all"]["corpora"] == ["parallel-1", "parallel-2"]
    small = experiment(tests={"news": sampled}, development={"source": "b.tsv"}).small
    assert small.tests["news"]["sample"] == 400 and "limit" not in small.tests["news"]


def test_settings_add_to_what_is_held_out() -> None:
    named = stages(clean={"held_out": ["mine"], "max_word_ratio": 3})
    assert named["parallel"]["held_out"] == ["development", "test-news", "mine"]
    assert named["parallel"]["max_word_ratio"] == 3
    assert named["monolingual-clean"]["held_out"] == ["development", "test-news", "mine", "parallel"]


def test_base_big_takes_more_text_and_syntax_a_translator_for_each_output() -> None:
    named = stages(
        methods=("base-big", "syntax"), outputs=2, sentences=100, parser="p", syntax={"min_rows": 7, "steps": 9}
    )
    # The sentences of other methods are a sample of those of base-big; too few sentences are an error.
    assert named["monolingual-more"]["sample"] == 200 and named["monolingual-more"]["input"] == "monolingual-clean"
    assert named["monolingual"]["sample"] == 100 and named["monolingual"]["input"] == "monolingual-more"
    assert named["monolingual"]["exact_sample"] and named["monolingual-more"]["exact_sample"]
    assert named["variants-base-big"]["input"] == "monolingual-more"
    assert named["variants-syntax"]["input"] == "monolingual" == stages()["variants-base"]["input"]
    assert stages()["monolingual"]["input"] == "monolingual-clean" and "monolingual-more" not in stages()
    assert named["variants-syntax"]["translator"] == ["tuned-1", "tuned-2"]
    # The development pairs, of all kinds of sentences, do not choose between the steps of a tuned translator.
    assert named["tuned-1"]["keep_last"]
    assert named["tuned-2"]["init_from"] == "back" and named["tuned-2"]["steps"] == 9
    assert "min_rows" not in named["tuned-2"] and named["groups"]["min_rows"] == 7
    assert named["diversity-syntax"]["trees"] == "text_parse"


def test_final_translators_share_one_vocabulary_and_may_continue_from_a_first_one() -> None:
    named = stages(methods=("none", "base"), tag="<BT>")
    assert {named[f"final-{name}-1"]["subwords_from"] for name in ("none", "base")} == {"back"}
    assert named["back"]["special_tokens"] == ["<BT>"]
    assert "init_from" not in named["final-none-1"] and "first-1" not in named
    whole = experiment(methods=("none", "base"), seeds=2, first={"steps": 90}, final={"steps": 30})
    named = {stage["name"]: stage for stage in stage_tables(whole)}
    assert named["first-2"]["bitext"] == ["parallel"] and named["first-2"]["steps"] == 90
    assert [named[f"final-{name}-2"]["init_from"] for name in ("none", "base")] == ["first-2"] * 2
    assert named["final-none-1"]["bitext"] == ["parallel"] and named["final-base-1"]["steps"] == 30
    assert "first-1" not in {stage["name"] for stage in stage_tables(whole.small)}


def test_paths_are_relative_to_the_file_of_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_experiment(tmp_path)
    path.write_text('parser = "trees"\ncomet = "wmt20-comet-da"\n' + path.read_text())
    for name in ("trees", "depparse", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    config = read_experiment(path)[2]
    assert config.parser == str(tmp_path / "trees") and config.comet == str(tmp_path / "wmt20-comet-da")
    path.write_text(path.read_text().replace('"trees"', '"stanza:tr:depparse"'))
    assert read_experiment(path)[2].parser == "stanza:tr:depparse"


def test_the_stages_are_a_pipeline(tmp_path: Path) -> None:
    for name in ("a.tsv", "m"):
        (tmp_path / name).write_text("")
    tables = stage_tables(experiment(methods=("none", "base", "base-big", "syntax"), parser="spacy:some"))
    pipeline = pipeline_from_tables(tables, name="toy", base=tmp_path)
    assert [step.name for step in pipeline.steps] == [stage["name"] for stage in tables]


def test_a_small_experiment() -> None:
    whole = experiment(methods=("none", "base", "syntax", "nucleus"), parser="p", seeds=3, back={"steps": 5000})
    small = whole.small
    assert small.methods == ("none", "base", "nucleus") and small.seeds == 1
    named = {stage["name"]: stage for stage in stage_tables(small)}
    assert named["final-nucleus-1"]["steps"] == named["back"]["steps"] == small.translator["steps"] < 1000
    limits = experiment(tests={"a": {**TABLE, "limit": 300}, "b": TABLE}).small.tests
    assert limits["a"]["limit"] == 300 and limits["b"]["limit"] == 400
    assert whole.development == TABLE and small.development["limit"] == 60
    with pytest.raises(ConfigError, match="a small experiment needs one of the methods"):
        _ = experiment(methods=("topk",)).small


def test_the_work_is_counted() -> None:
    counted = experiment(
        methods=("none", "base-big", "syntax"),
        seeds=2,
        sentences=100,
        outputs=3,
        parser="p",
        translator={"steps": 50},
        back={"steps": 70},
        syntax={"steps": 9},
        first={"steps": 60},
        final={"steps": 10},
    )
    # One back-translator, three tuned ones, two first ones, and two final ones of each method.
    assert cost_statement(counted).startswith("This is 12 trainings with 277 updates at most, 400 sentences")
    # One output of each of 300 sentences, and three of each of 100.
    assert "600 translations to parse" in cost_statement(counted)
    assert "parse" not in cost_statement(experiment())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("nucleos",)}, "did you mean 'nucleus'"),
        ({"methods": ("base", "base")}, "each only once"),
        ({"methods": ("syntax",)}, "needs a 'parser'"),
        ({"seeds": 0}, "'seeds' must be 1 or more, not 0"),
        ({"final": {"vocab_size": 9}}, "table 'final' has vocab_size"),
        ({"weights": (1,)}, "must be two numbers"),
        ({"parallel": ()}, "key 'parallel' is empty"),
        ({"tests": {"news-2018": TABLE}}, "contain '-', but it is 'news-2018'"),
        ({"tests": {"news": {**TABLE, "sample": 9}}}, "those of test 'news' are drawn from the same file"),
        ({"development": {**TABLE, "sample": 9}}, "are drawn from the same file and may overlap"),
        ({"parallel": ({**TABLE, "sample": 0.5},)}, "'sample' must be a whole number, the rows to draw, not 0.5"),
    ],
)
def test_invalid_configurations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        experiment(**changes)


KEYS = "src_lang = 'a'\ntgt_lang = 'b'\nmonolingual = []\ndevelopment = {}\ntests = {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'src_lang' is missing"),
        ("sed = 1", "did you mean 'seed'"),
        ("a =", "invalid TOML"),
        (KEYS + "parallel = []\nseed = 'x'", "'seed' must be a whole number"),
        (KEYS + "[parallel]\na = 1\n", "'parallel' must be"),
        (KEYS + "parallel = []\nsentences = '30'\n", "'sentences' must be a whole number"),
    ],
)
def test_invalid_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        read_experiment(tmp_path / "e.toml")
    assert error.value.file == str(tmp_path / "e.toml")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="file not found"):
        read_experiment(tmp_path / "other.toml")


def test_figures_are_collected_by_method_test_and_seed() -> None:
    measured = {"bleu": 10.0, "bleu_interval": 1.0, "chrf": 30.0, "chrf_interval": None}
    figures = {
        "test-news-base-1": measured,
        "test-news-base-2": {**measured, "bleu": 12.0},
        "test-news-base-big-1": {**measured, "bleu": 20.0},
        "test-news": {"rows": 3},
        "diversity-base": {"ibleu": 40.0, "ibleu_interval": 0.5},
        "final-base-2": {"steps": 4, "train_perplexity": 17.5},
        "back-on-news": {"bleu": 9.0},
        "compared-news": {"base-big - base": "+9.00 (+8.00 to +10.00)"},
    }
    result = ExperimentResult.from_stages(figures, ["base", "base-big"])
    base, big = result.methods
    assert base.mean("news", "bleu") == 11.0 and big.mean("news", "bleu") == 20.0
    assert base.diversity["ibleu"] == 40.0 and base.trainings[0]["steps"] == 4
    lines = result.format().splitlines()
    assert lines[0].split() == ["method", "news", "BLEU", "news", "chrF", "ibleu", "train_perplexity"]
    assert "11.00 ±1.00 (10.00 to 12.00)" in lines[1] and lines[1].endswith("40.00 ±0.50  17.50")
    assert "20.00 ±1.00" in lines[2] and lines[2].endswith("-")
    assert lines[3:5] == ["Back-translator", "news  BLEU 9.00"]
    assert lines[-1] == "news  base-big - base  +9.00 (+8.00 to +10.00)"
    assert result.to_dict()["differences"] == {"news": figures["compared-news"]}


def test_a_method_without_figures_has_an_empty_row() -> None:
    assert ExperimentResult((MethodResult("none"),)).format().splitlines() == ["method", "none"]


def test_the_table_has_groups_of_a_test_and_comet() -> None:
    group = {"group": "eng-tur", "bleu": 5.0, "bleu_interval": 0.5}
    figures = {"bleu": 10.0, "chrf": 30.0, "comet": 0.31, "groups": [group]}
    lines = format_methods([MethodResult("base", {"news": [figures]})]).splitlines()
    assert "news COMET" in lines[0] and "news eng-tur BLEU" in lines[0]
    assert "0.31" in lines[1] and "5.00 ±0.50" in lines[1]
