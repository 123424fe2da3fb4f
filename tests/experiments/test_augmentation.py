"""BBH22's experiment as a recipe: its stages, its figures, whole small ones, and what a wrong file says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Command
from toy_documents import words

from paraloom.core.errors import ConfigError, DataError, RunError
from paraloom.experiments.augmentation import RESULT, augment, stages_of
from paraloom.experiments.augmentation_config import Experiment, read_experiment
from paraloom.experiments.augmentation_cost import hours, statement
from paraloom.experiments.augmentation_results import Outcome, collect, render
from paraloom.mt.presets import METHODS
from paraloom.pipeline.toml import pipeline_from_tables

TABLE = {"source": "a.tsv"}


def experiment(**changes: Any) -> Experiment:
    known: dict[str, Any] = {"src_lang": "tr", "tgt_lang": "en", "parallel": (TABLE,), "development": TABLE}
    return Experiment(**{**known, "monolingual": ({"text_files": ["m"]},), "tests": {"news": TABLE}, **changes})


def stages(**changes: Any) -> dict[str, dict[str, Any]]:
    return {stage["name"]: stage for stage in stages_of(experiment(**changes))}


def test_the_longest_sentence_is_what_any_table_says() -> None:
    assert "max_length" not in stages()["monolingual-all"]
    texts = ({"text_files": ["m"], "max_length": 900}, {"text_files": ["n"]})
    assert stages(monolingual=texts)["monolingual-all"]["max_length"] == 900


def test_each_method_back_translates_trains_and_is_measured() -> None:
    named = stages(methods=("none", "nucleus"), seeds=2, weights=(1, 2), tag="<BT>")
    assert named["back"]["bitext"] == ["turned"] and named["turned"]["swap"]
    assert named["variants-nucleus"]["translator"] == ["back"]
    assert named["made-nucleus"]["src_lang"] == "tr" and named["made-nucleus"]["tag"] == "<BT>"
    assert named["final-none-1"]["bitext"] == ["parallel"] and "weights" not in named["final-none-1"]
    assert named["final-nucleus-2"]["bitext"] == ["parallel", "made-nucleus"]
    assert named["final-nucleus-2"]["weights"] == [1, 2] and named["final-nucleus-2"]["special_tokens"] == ["<BT>"]
    assert named["test-news-nucleus-2"]["pairs"] == "test-news"
    assert named["back-on-news"]["translator"] == "back" and named["back-on-news"]["pairs"] == "turned-news"
    assert named["turned-news"]["corpora"] == ["test-news"] and named["turned-news"]["turned"]
    assert "variants-none" not in named


def test_no_test_sentence_is_trained_on() -> None:
    named = stages()
    assert named["parallel"]["held_out"] == ["development", "test-news"]
    # Another translation of one, back-translated, may be that sentence.
    assert named["made-base"]["held_out"] == ["development", "test-news"]
    # Nor is what has a translation already taken for monolingual.
    assert named["monolingual-clean"]["held_out"] == ["development", "test-news", "parallel"]


def test_a_test_may_be_drawn_from_the_parallel_text() -> None:
    drawn = {**TABLE, "sample": 1500, "sets": "s.tsv"}
    named = stages(tests={"news": drawn}, development={"source": "b.tsv", "sample": 40, "origin": "dev"})
    assert named["whole-test-news"]["source"] == TABLE["source"] and "sample" not in named["whole-test-news"]
    names = list(named)
    for name, rows in (("test-news", 1500), ("development", 40)):
        assert named[name] == {"name": name, "use": "filter", "sample": rows}
        assert names.index(name) == names.index(f"whole-{name}") + 1
    assert named["test-news-base-1"]["sets"] == "s.tsv"
    some = stages(parallel=({**TABLE, "sample": 70}, TABLE))
    assert some["whole-parallel-1"]["use"] == "read-pairs" and some["parallel-1"]["sample"] == 70
    assert some["parallel-all"]["corpora"] == ["parallel-1", "parallel-2"]
    assert named["parallel"]["held_out"] == ["development", "test-news"]
    small = experiment(tests={"news": drawn}, development={"source": "b.tsv"}).small
    assert small.tests["news"]["sample"] == 400 and "limit" not in small.tests["news"]


def test_what_is_held_out_is_only_ever_added_to() -> None:
    named = stages(clean={"held_out": ["mine"], "max_word_ratio": 3})
    assert (
        named["parallel"]["held_out"] == ["development", "test-news", "mine"]
        and named["parallel"]["max_word_ratio"] == 3
    )
    assert named["monolingual-clean"]["held_out"] == ["development", "test-news", "mine", "parallel"]


def test_base_big_takes_more_text_and_syntax_a_translator_for_each_output() -> None:
    named = stages(
        methods=("base-big", "syntax"), outputs=2, sentences=100, parser="p", syntax={"min_rows": 7, "steps": 9}
    )
    # The sentences of the others are some of those, and there is an error where there are not enough.
    assert named["monolingual-more"]["sample"] == 200 and named["monolingual-more"]["input"] == "monolingual-clean"
    assert named["monolingual"]["sample"] == 100 and named["monolingual"]["input"] == "monolingual-more"
    assert named["monolingual"]["exact_sample"] and named["monolingual-more"]["exact_sample"]
    assert named["variants-base-big"]["input"] == "monolingual-more"
    assert named["variants-syntax"]["input"] == "monolingual" == stages()["variants-base"]["input"]
    assert stages()["monolingual"]["input"] == "monolingual-clean" and "monolingual-more" not in stages()
    # A tuned translator is not chosen by sentences of other kinds than it is tuned for.
    assert named["tuned-1"]["keep_last"]
    assert named["variants-syntax"]["translator"] == ["tuned-1", "tuned-2"]
    assert (
        named["tuned-2"]["init_from"] == "back" and named["tuned-2"]["steps"] == 9 and "min_rows" not in named["tuned-2"]
    )
    assert named["groups"]["min_rows"] == 7 and named["diversity-syntax"]["trees"] == "text_parse"


def test_all_final_translators_have_the_same_sub_words_and_may_go_on_from_one() -> None:
    named = stages(methods=("none", "base"), tag="<BT>")
    assert {named[f"final-{name}-1"]["subwords_from"] for name in ("none", "base")} == {"back"}
    assert (
        named["back"]["special_tokens"] == ["<BT>"]
        and "init_from" not in named["final-none-1"]
        and "first-1" not in named
    )
    whole = experiment(methods=("none", "base"), seeds=2, first={"steps": 90}, final={"steps": 30})
    named = {stage["name"]: stage for stage in stages_of(whole)}
    assert named["first-2"]["bitext"] == ["parallel"] and named["first-2"]["steps"] == 90
    assert [named[f"final-{name}-2"]["init_from"] for name in ("none", "base")] == ["first-2"] * 2
    assert named["final-none-1"]["bitext"] == ["parallel"] and named["final-base-1"]["steps"] == 30
    assert "first-1" not in {stage["name"] for stage in stages_of(whole.small)}
    assert hours(whole)["training"] > hours(replace(whole, first={}))["training"]


def test_paths_are_seen_from_the_experiments_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_experiment(tmp_path)
    path.write_text('parser = "trees"\ncomet_python = "python"\n' + path.read_text())
    for name in ("trees", "python", "depparse", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    plan = read_experiment(path)[2]
    assert plan.parser == str(tmp_path / "trees") and plan.comet_python == "python"
    path.write_text(path.read_text().replace('"trees"', '"stanza:tr:depparse"'))
    path.write_text(path.read_text().replace('"python"', '"python/bin/python"'))
    plan = read_experiment(path)[2]
    assert plan.parser == "stanza:tr:depparse" and plan.comet_python == str(tmp_path / "python/bin/python")
    assert plan.comet_model == "wmt20-comet-da"
    path.write_text('comet_model = "some/model.ckpt"\n' + path.read_text())
    assert read_experiment(path)[2].comet_model == str(tmp_path / "some/model.ckpt")


def test_a_pipeline_can_be_read_from_the_stages(tmp_path: Path) -> None:
    for name in ("a.tsv", "m"):
        (tmp_path / name).write_text("")
    tables = stages_of(experiment(methods=("none", "base", "base-big", "syntax"), parser="spacy:some"))
    parsed = pipeline_from_tables(tables, name="toy", base=tmp_path)
    assert [step.name for step in parsed.steps] == [stage["name"] for stage in tables]


def test_the_small_one_is_that_of_half_an_hour() -> None:
    whole = experiment(methods=("none", "base", "syntax", "nucleus"), parser="p", seeds=3, back={"steps": 5000})
    small = whole.small
    assert small.methods == ("none", "base", "nucleus") and small.seeds == 1
    tables = {stage["name"]: stage for stage in stages_of(small)}
    assert tables["final-nucleus-1"]["steps"] == small.translator["steps"] < 1000
    assert {stage["name"]: stage for stage in stages_of(small)}["back"]["steps"] == small.translator["steps"]
    limits = experiment(tests={"a": {**TABLE, "limit": 300}, "b": TABLE}).small.tests
    assert limits["a"]["limit"] == 300 and limits["b"]["limit"] == 400
    assert whole.development == TABLE and small.development["limit"] == 60
    with pytest.raises(ConfigError, match="a small experiment has methods among"):
        _ = experiment(methods=("topk",)).small
    assert hours(replace(small, parser=""))["in all"] < 0.5 < hours(whole)["in all"]


def test_every_method_has_a_speed_to_go_by() -> None:
    assert hours(experiment(methods=("none", *METHODS), parser="p"))["translating"] > 0


@pytest.mark.parametrize("name", ["sampling", "syntax"])
def test_more_outputs_take_longer(name: str) -> None:
    few, many = (hours(experiment(methods=(name,), outputs=n, parser="p"))["translating"] for n in (3, 6))
    assert many == pytest.approx(2 * few)


def test_what_comet_takes_is_not_known_and_said_to_be_left_out() -> None:
    assert "without COMET" in statement(experiment(comet_python="python"))
    assert "COMET" not in statement(experiment())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": ("nucleos",)}, "did you mean 'nucleus'"),
        ({"methods": ("base", "base")}, "each method once"),
        ({"methods": ("syntax",)}, "needs a 'parser'"),
        ({"seeds": 0}, "'seeds' is 1 or more"),
        ({"final": {"vocab_size": 9}}, "'final' has a vocabulary of its own"),
        ({"weights": (1,)}, "two numbers"),
        ({"parallel": ()}, "no 'parallel'"),
        ({"tests": {"news-2018": TABLE}}, "without '-'"),
        ({"tests": {"news": {**TABLE, "sample": 9}}}, "of test 'news' are drawn from one file, and may be the same"),
        ({"development": {**TABLE, "sample": 9}}, "are drawn from one file"),
        ({"parallel": ({**TABLE, "sample": 0.5},)}, "'sample' counts rows, and is not 0.5"),
    ],
)
def test_an_experiment_that_cannot_be_says_why(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        experiment(**changes)


KEYS = "src_lang = 'a'\ntgt_lang = 'b'\nmonolingual = []\ndevelopment = {}\ntests = {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'src_lang' is missing"),
        ("sed = 1", "did you mean 'seed'"),
        ("a =", "this is not TOML"),
        ("seed = 'x'", "'seed' is a whole number"),
        (KEYS + "[parallel]\na = 1\n", "'parallel' must be"),
        (KEYS + "parallel = []\nsentences = '30'\n", "'sentences' must be a whole number"),
    ],
)
def test_a_file_that_is_no_experiment_says_why(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_experiment(tmp_path / "e.toml")
    with pytest.raises(ConfigError, match="no such file"):
        read_experiment(tmp_path / "other.toml")


def test_figures_are_gathered_by_method_test_and_seed() -> None:
    measured = {"bleu": 10.0, "bleu_interval": 1.0, "chrf": 30.0, "chrf_interval": None}
    figures = {
        "test-news-base-1": measured,
        "test-news-base-2": {**measured, "bleu": 12.0},
        "test-news-base-big-1": {**measured, "bleu": 20.0},
        "test-news": {"rows": 3},
        "diversity-base": {"ibleu": 40.0, "ibleu_interval": 0.5},
        "final-base-2": {"steps": 4, "train_perplexity": 17.5},
    }
    base, big = collect(figures, ["base", "base-big"])
    assert base.mean("news", "bleu") == 11.0 and big.mean("news", "bleu") == 20.0
    assert base.diversity["ibleu"] == 40.0 and base.trainings[0]["steps"] == 4
    lines = render([base, big]).splitlines()
    assert lines[0].split() == ["method", "news", "BLEU", "news", "chrF", "ibleu", "train_perplexity"]
    assert "11.00 ±1.00 (10.00 to 12.00)" in lines[1] and lines[1].endswith("40.00 ±0.50  17.50")
    assert "20.00 ±1.00" in lines[2] and lines[2].endswith("-")
    assert render([Outcome("none")]).splitlines()[1].strip() == "none"


TINY = """
vocab_size = 150
d_model = 16
heads = 2
ffn_dim = 16
encoder_layers = 1
decoder_layers = 1
steps = 4
evaluate_every = 2
"""


def write_experiment(folder: Path) -> Path:
    """A made-up language pair in files: parallel text, more of the target, development and test; as an experiment."""
    rng = random.Random(3)
    ours, theirs = words(rng, 60, "bdgklm"), words(rng, 60, "fhnprst")
    put = dict(zip(ours, theirs, strict=True))

    def lines(count: int) -> list[str]:
        sentences = (rng.choices(ours, k=rng.randint(3, 7)) for _ in range(count))
        return [f"{' '.join(line)}\t{' '.join(put[word] for word in line)}" for line in sentences]

    for name, count in (("parallel", 120), ("dev", 20), ("test", 30)):
        (folder / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines(count)))
    (folder / "mono.txt").write_text("".join(f"{line.partition(chr(9))[2]}\n" for line in lines(60)))
    (folder / "sets.tsv").write_text("set\tfirst_row\tlast_row\nfrom-ours\t1\t15\nfrom-theirs\t16\t30\n")
    (folder / "toy.toml").write_text(
        'src_lang = "xx"\ntgt_lang = "yy"\nmethods = ["none", "base", "nucleus"]\noutputs = 2\nsentences = 30\n'
        '[[parallel]]\nsource = "parallel.tsv"\n[[monolingual]]\ntext_files = ["mono.txt"]\n'
        '[development]\nsource = "dev.tsv"\n[tests.news]\nsource = "test.tsv"\nsets = "sets.tsv"\n'
        f"[translator]\n{TINY}"
    )
    return folder / "toy.toml"


@pytest.mark.slow
def test_an_experiment_runs_whole_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    path = write_experiment(tmp_path)
    said: list[str] = []
    outcomes = augment(path, tmp_path / "run", engine="inline", tell=said.append)
    assert "news  nucleus - none" in said[-1] and len(said[-1].splitlines()) == 1 + 3
    assert [outcome.method for outcome in outcomes] == ["none", "base", "nucleus"]
    for outcome in outcomes:
        (figures,) = outcome.tests["news"]
        assert figures["n"] == 30 and {group["group"] for group in figures["groups"]} == {"from-ours", "from-theirs"}
    assert outcomes[0].diversity == {} and outcomes[2].diversity["groups"] == 30
    written = json.loads((tmp_path / "run" / RESULT).read_text())
    assert written == json.loads(json.dumps([vars(outcome) for outcome in outcomes]))
    before = {manifest: manifest.stat().st_mtime_ns for manifest in (tmp_path / "run").glob("*/manifest.jsonl")}
    assert (
        json.loads(json.dumps([vars(outcome) for outcome in augment(path, tmp_path / "run", engine="inline")]))
        == written
    )
    assert {manifest: manifest.stat().st_mtime_ns for manifest in before} == before
    # The small one has stages of the same names, which would overwrite those in the same folder.
    with pytest.raises(RunError, match="this folder holds another run, 'toy'"):
        augment(path, tmp_path / "run", small=True, engine="inline")


@pytest.mark.slow
def test_more_text_seeds_shares_and_a_first_translator_run_whole(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    path = write_experiment(tmp_path)
    text = path.read_text().replace('["none", "base", "nucleus"]', '["none", "base-big"]').replace("= 30\n", "= 20\n")
    path.write_text(f'seeds = 2\nweights = [1, 3]\ntag = "<BT>"\n{text}[first]\nsteps = 6\n[final]\nsteps = 4\n')
    none, more = augment(path, tmp_path / "run", engine="inline")
    assert [len(outcome.trainings) for outcome in (none, more)] == [2, 2] and len(more.tests["news"]) == 2
    curves = [f.read_text() for f in sorted((tmp_path / "run").glob("*-final-*/artifact/curve.jsonl"))]
    assert len(curves) == 4 == len(set(curves))
    # All measure their perplexity by the same sub-words, the tag among them.
    words = {f.read_bytes() for f in (tmp_path / "run").glob("*/artifact/shared_vocabulary.json")}
    assert len(words) == 1 and b"<BT>" in words.pop()
    bitexts = [f for f in (tmp_path / "run").glob("*-made-base-big") if f.is_dir()]
    assert json.loads((bitexts[0] / "corpus.json").read_text())["rows"] <= 40
    path.write_text(path.read_text().replace("sentences = 20", "sentences = 200"))
    with pytest.raises(DataError, match="400 rows are to be drawn, and there are"):
        augment(path, tmp_path / "other", engine="inline")


@pytest.mark.slow
def test_syntax_groups_are_found_tuned_for_and_measured(paraloom: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("nltk", reason="grammars need nltk: pip install 'paraloom[syntax]'")
    path = write_experiment(tmp_path)
    # Flat trees: the root production of a sentence is its number of words.
    sources = [line.partition("\t")[0].split() for line in (tmp_path / "parallel.tsv").read_text().splitlines()]
    trees = "".join(f"(S {' '.join(f'(W {word})' for word in words)})\n" for words in sources)
    (tmp_path / "trees.mrg").write_text(trees)
    assert paraloom("train", "parser", "trees.mrg", "-o", "grammar")[0] == 0
    text = path.read_text().replace('["none", "base", "nucleus"]', '["syntax"]')
    path.write_text(f'parser = "grammar"\nmeasured = 20\n{text}[syntax]\nmin_rows = 10\nsteps = 2\n')
    (outcome,) = augment(path, tmp_path / "run", engine="inline")
    assert outcome.diversity["kernel_sst"] is not None and 0 < outcome.diversity["groups"] <= 30
    assert outcome.tests["news"][0]["n"] == 30
    for group in (1, 2):
        (tuned,) = (tmp_path / "run").glob(f"*-tuned-{group}/artifact/training.json")
        assert json.loads(tuned.read_text())["config"]["keep_last"]


def test_the_command_says_how_long_it_takes(paraloom: Command, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    status, _, err = paraloom("augment", "toy.toml", "--dry-run")
    assert status == 0 and "This will take about" in err and "4 trainings" in err
    assert not (tmp_path / "runs").exists()


def test_parts_of_a_test_and_comet_stand_in_the_table() -> None:
    part = {"group": "eng-tur", "bleu": 5.0, "bleu_interval": 0.5}
    figures = {"bleu": 10.0, "chrf": 30.0, "comet": 0.31, "groups": [part]}
    lines = render([Outcome("base", {"news": [figures]})]).splitlines()
    assert "news COMET" in lines[0] and "news eng-tur BLEU" in lines[0]
    assert "0.31" in lines[1] and "5.00 ±0.50" in lines[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["mono.txt", "--translator", "m", "-o", "made.tsv", "--dry-run"], "--dry-run is for an EXPERIMENT.toml"),
        (["toy.toml", "--seed", "9"], "--seed is for a text"),
        (["toy.toml", "--tag", "<X>"], "--tag is for a text"),
    ],
)
def test_a_text_and_an_experiment_have_options_of_their_own(
    paraloom: Command, tmp_path: Path, call: list[str], message: str
) -> None:
    write_experiment(tmp_path)
    status, _, errors = paraloom("augment", *call)
    assert status == 2 and message in " ".join(errors.split())
    assert not (tmp_path / "made.tsv").exists()


def test_a_dry_run_finds_what_is_wrong_at_once(paraloom: Command, tmp_path: Path) -> None:
    path = write_experiment(tmp_path)
    path.write_text(path.read_text().replace("parallel.tsv", "paralel.tsv"))
    status, _, errors = paraloom("augment", "toy.toml", "--dry-run")
    assert status == 1 and "there is no file" in errors
