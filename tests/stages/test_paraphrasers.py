"""Training and use of a toy paraphraser: its folder, its vocabulary, forced templates, stages, commands, bad input."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from commands import Command
from openai_server import OpenAIServer, serve
from stage_runs import read_rows, run_toml, write_pairs
from toy_syntax import TEMPLATES, text_of, tree_pairs, write_parsed_pairs

import paraloom as library
from paraloom import api
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.io import Corpus, write_corpus
from paraloom.mt.model_card import read_card
from paraloom.mt.subwords import read_vocabulary
from paraloom.papers import measure_control
from paraloom.papers.scpn.measure_control import first_variants, known_templates, share_known
from paraloom.paraphrasing.linearization import cut_tree, read_template, special_tokens
from paraloom.paraphrasing.selection import changes_of
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.stages.paraphrasers import TrainParaphraser
from paraloom.stages.paraphrasing import Paraphrase

SENTENCE = "the dog sees the cat today ."
FRONTED = TEMPLATES["fronted"]


@pytest.fixture
def model(toy_paraphraser: Path) -> library.Paraphraser:
    return library.Paraphraser.load(toy_paraphraser)


def test_the_folder(toy_paraphraser: Path) -> None:
    names = {path.name for path in toy_paraphraser.iterdir()}
    assert {"model.bin", "source.spm", "templates.tsv", "template_pairs.tsv", "paraphraser.json", "parser"} <= names
    card = (toy_paraphraser / "README.md").read_text(encoding="utf-8")
    assert "| languages | en → en |" in card and "_examples |" in card
    labels = {"S", "NP", "VP", "ADVP", "PP", "DT", "NN", "VBZ", "VBN", "RB", "IN", ".", ","}
    assert set(ParaphraserSettings.load(toy_paraphraser).labels) == labels
    assert api.find_model(str(toy_paraphraser)).kind == "paraphraser"


def test_labels_are_single_pieces_of_the_vocabulary(toy_paraphraser: Path) -> None:
    model = library.Paraphraser.load(toy_paraphraser)
    tokens = special_tokens(model.settings.labels)
    vocabulary = read_vocabulary(toy_paraphraser / "huggingface")
    assert set(tokens) <= set(vocabulary)
    (pieces,) = model.translator._codec.encode_target([f"{''.join(tokens)} the dog"])  # type: ignore[attr-defined]
    assert pieces[1 : len(tokens) + 1] == list(tokens)


def test_counts_of_examples(toy_paraphraser: Path) -> None:
    figures = json.loads((toy_paraphraser / "training.json").read_text())
    assert figures["left_out"] == 0
    facts = read_card(toy_paraphraser)
    modes = [int(facts[f"{mode}_examples"]) for mode in ("free", "template", "exemplar")]
    # Each pair gives an example in both directions; those held out are not counted.
    assert sum(modes) == figures["pairs"] and 900 < figures["pairs"] < 1200
    counts = api.count_templates(toy_paraphraser)
    assert counts.pairs == figures["pairs"]
    assert [row.template for row in counts.templates] == [TEMPLATES["plain"], FRONTED]
    assert counts.templates[0].in_scpn and len(counts.scpn) == 9
    assert "2 distinct templates" in counts.format()


def test_variants(model: library.Paraphraser) -> None:
    (variants,) = model.paraphrase([SENTENCE], n=3)
    assert 1 <= len(variants) <= 3 and all(one.template is None and one.distance is None for one in variants)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (variants,) = model.paraphrase([SENTENCE], n=3, template=FRONTED)
        again = model.paraphrase([SENTENCE, SENTENCE], n=3, template=FRONTED)
    assert again == [variants, variants]
    assert all("<" not in one.text and one.template == FRONTED for one in variants)
    for one in variants:
        tree = model.parser.parse([one.text])[0] if model.parser else None
        assert (one.distance == 0) == (tree is not None and cut_tree(tree) == FRONTED)


def test_an_exemplar_is_cut_at_the_height(model: library.Paraphraser) -> None:
    for height, template in ((2, FRONTED), (3, "(S (ADVP (RB)) (,) (NP (DT) (NN)) (VP (VBZ) (NP)) (.))")):
        (variants,) = model.candidates([SENTENCE], n=1, like="here , the bird finds the child .", height=height)
        assert variants[0].template == template


def test_templates_that_a_model_does_not_know(model: library.Paraphraser) -> None:
    trees = ["(S (NP (DT the)) (VP (VBZ sees)) (. .))", "(S (NP (DT the)) (ZZ x))", "(S (NP (ZZ x)) (VP (VBZ sees)))"]
    assert known_templates(model, trees, 2) == [TEMPLATES["plain"], None, "(S (NP) (VP))"]
    assert known_templates(model, trees, 3)[1:] == [None, None]
    assert share_known(known_templates(model, trees, 2)) == 2 / 3
    assert len(first_variants(model, [SENTENCE] * 2, [FRONTED, None], 1)) == 2


def test_bad_input(model: library.Paraphraser, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown label 'ADV' at character 5; did you mean 'ADVP'"):
        model.paraphrase([SENTENCE], template="(S (ADV) (NP))")
    with pytest.raises(DataError, match=r"the exemplar '' cannot be parsed"):
        model.paraphrase([SENTENCE], like="")
    with pytest.raises(ModelError, match=r"paraphraser 'englsh' not found; did you mean 'english'\?"):
        library.Paraphraser.load("englsh")
    with pytest.raises(ModelError, match=r"not a paraphraser: paraphraser.json not found"):
        library.Paraphraser.load(tmp_path)
    (tmp_path / "paraphraser.json").write_text('{"labels": []}')
    with pytest.raises(ModelError, match=r"paraphraser.json is damaged"):
        library.Paraphraser.load(tmp_path)
    long = " ".join([SENTENCE] * 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (variants,) = model.paraphrase([long], n=1, template=FRONTED)
    assert variants[0].pieces == 60 and variants[0].text


def test_the_stage(toy_paraphraser: Path, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 20, seed=5)
    result = run_toml(
        f'[[stage]]\nuse = "paraphrase"\ninput = "pairs"\nparaphraser = "{toy_paraphraser}"\nn = 2\n'
        f'template = "{FRONTED}"\ncolumn = "tgt"\npreset = "none"\n',
        tmp_path,
    ).stages[-1]
    rows = read_rows(result.folder)
    assert Corpus.open(result.folder).kind == "VARIANTS"
    counts = Counter(row["pair_id"] for row in rows)
    assert len(counts) == 20 and set(counts.values()) <= {1, 2}
    targets = [text_of(other) for _, other in tree_pairs(20, seed=5)]
    assert [row["original"] for row in rows if row["rank"] == 0] == targets
    assert all(row["template"] == FRONTED for row in rows)
    for row in rows:
        assert (row["template_distance"] == 0) == (row["template_parse"] == FRONTED)
    field = Corpus.open(result.folder).schema.field("template")
    assert b"paraphraser|model:" in field.metadata[b"signature"]


def test_the_stage_selects(toy_paraphraser: Path, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 20, seed=5)
    result = run_toml(
        f'[[stage]]\nuse = "paraphrase"\ninput = "pairs"\nparaphraser = "{toy_paraphraser}"\nn = 1\ncandidates = 6\n'
        "judge = 'none'\ndifference = 0.1\nmeaning = 0.2\n",
        tmp_path,
    ).stages[-1]
    kept, rejected = read_rows(result.folder), read_rows(result.folder / "rejected")
    counts = Counter(row["pair_id"] for row in kept)
    assert set(counts.values()) <= {1} and all(row["rank"] == 0 for row in kept)
    assert all(row["difference"] >= 0.1 and row["meaning"] >= 0.2 for row in kept)
    assert all(row["changes"] == changes_of(row["original"], row["text"]) for row in kept)
    assert {row["reason"] for row in rejected} <= {
        *(
            "near copy of the text",
            "near-duplicate of a better candidate",
            "over the limit",
            "meaning changed",
            "length",
        ),
        *("repeats a word", "cut off by the decoder", "empty"),
    }
    assert len(kept) + len(rejected) > 20, "each candidate is a row"
    unmeasured = {"near copy of the text", "length", "repeats a word", "cut off by the decoder", "empty"}
    for row in rejected:
        assert (row["meaning"] is None) == (row["reason"] in unmeasured)
        assert (row["difference"] is None) == (row["reason"] == "empty")


def test_the_stage_makes_round_trips(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("A dog sleeps in the garden.", "x"), ("We are late.", "y"))
    text = '[[stage]]\nuse = "paraphrase"\ninput = "pairs"\nn = 2\n'
    text += 'paraphraser = "round-trip:en-de,de-en"\npreset = "none"\n'
    rows = read_rows(run_toml(text, tmp_path).stages[-1].folder)
    assert {row["method"] for row in rows} == {"round-trip"} and len(rows) == 4
    assert all(row["template"] is None and row["logprob"] < 0 for row in rows)


def test_an_english_encoder_does_not_select_german(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("Ein Hund schläft im Garten.", "x"))
    text = '[[stage]]\nuse = "paraphrase"\ninput = "pairs"\nparaphraser = "round-trip:de-en,en-de"\n'
    with pytest.raises(ConfigError, match="the encoder 'english' does not read German"):
        run_toml(text, tmp_path)
    rows = read_rows(run_toml(f'{text}preset = "none"\nn = 2\n', tmp_path).stages[-1].folder)
    assert len(rows) == 2 and {row["changes"] for row in rows} == {None}  # the kinds of change are those of English


def test_empty_texts_are_rejected(toy_paraphraser: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("A dog sleeps in the garden.", "x"), ("", "y"))
    for source in (
        f'paraphraser = "{toy_paraphraser}"\ncheck_languages = false',
        'paraphraser = "round-trip:en-de,de-en"',
    ):
        text = f'[[stage]]\nuse = "paraphrase"\ninput = "pairs"\n{source}\nn = 2\npreset = "none"\n'
        result = run_toml(text, tmp_path).stages[-1]
        rejected = read_rows(result.folder / "rejected")
        assert [(row["original"], row["reason"]) for row in rejected] == [("", "empty")]
        assert all(row["original"] for row in read_rows(result.folder))


def test_a_round_trip_follows_no_template() -> None:
    with pytest.raises(ConfigError, match="are for a trained paraphraser"):
        Paraphrase(paraphraser="round-trip:en-de,de-en", like="x")


def test_several_paraphrasers_in_one_stage(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("A dog sleeps in the garden.", "x"), ("We are late.", "y"))
    text = '[[stage]]\nuse = "paraphrase"\ninput = "pairs"\ncandidates = 3\nn = 2\npreset = "loose"\n'
    result = run_toml(f'{text}paraphraser = ["english", "round-trip:en-de,de-en,pivots=2"]\n', tmp_path)
    rows = read_rows(result.stages[-1].folder)
    assert rows and {row["method"] for row in rows} == {"paraphrase:several"}
    assert all(row["meaning"] >= 0.65 and row["difference"] >= 0.2 for row in rows)
    one = Paraphrase(paraphraser="round-trip:en-de,de-en,pivots=2")
    assert one.digest() != Paraphrase(paraphraser="round-trip:en-de,de-en").digest()


def test_an_endpoint_in_a_stage_is_not_asked_twice(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("A dog sleeps in the garden.", "x"), ("The film was good.", "y"))
    with serve(OpenAIServer(translate=lambda text, body: text.replace("dog", "puppy").replace("film", "movie"))) as it:
        text = '[[stage]]\nuse = "paraphrase"\ninput = "pairs"\ncandidates = 2\nn = 1\ndifference = 0.1\n'
        text += f'meaning = 0.0\nparaphraser = "{it.url}?model=m"\n'
        result = run_toml(text, tmp_path)
        asked, rows = len(it.bodies), read_rows(result.stages[-1].folder)
        assert [stage.name for stage in result.stages] == ["paraphrase-endpoint-1", "paraphrase"]
        assert result.stages[-1].figures["requests"] == asked > 0
        run_toml(text.replace("n = 1", "n = 2"), tmp_path)
        assert len(it.bodies) == asked
    assert [row["text"].partition(".")[0] for row in rows] == ["A puppy sleeps in the garden", "The movie was good"]


@pytest.mark.slow
def test_a_plan_says_what_an_endpoint_will_be_asked(paraloom: Command, tmp_path: Path) -> None:
    lines, output = tmp_path / "lines.txt", tmp_path / "out.tsv"
    lines.write_text("".join(f"The dog number {number} sleeps.\n" for number in range(200)))
    with serve(OpenAIServer(translate=lambda text, body: text.replace("dog", "puppy"))) as it:
        call = ("paraphrase", lines, "--paraphraser", f"{it.url}?model=m&input-price=1", "-o", output, "--workers", 1)
        status, out, err = paraloom(*call, "--preset", "none", "--plan", "--json")
        assert status == 0, err
        planned, sent = json.loads(out)["stages"][-1], len(it.bodies)
        assert not output.exists() and planned["sample_requests"] == sent
        status, out, err = paraloom(*call, "--preset", "none", "--json")
        assert status == 0, err
    took = json.loads(out)["endpoint"]
    assert (planned["requests"], planned["input_tokens"]) == (took["requests"], took["input_tokens"])
    assert planned["cost"] == pytest.approx(took["cost"])


def test_the_stage_refuses_another_language(toy_paraphraser: Path, tmp_path: Path) -> None:
    german = "Das ist nicht der Hund, den wir mit dir in der Stadt gesehen haben."
    write_pairs(tmp_path / "pairs", *[(german, "x")] * 5)
    text = f'[[stage]]\nuse = "paraphrase"\ninput = "pairs"\nparaphraser = "{toy_paraphraser}"\nn = 1\n'
    text += 'preset = "none"\n'
    with pytest.raises(DataError, match="the text is German, and the paraphraser was trained on English"):
        run_toml(text, tmp_path)
    assert run_toml(f"{text}check_languages = false\n", tmp_path).stages[-1].counts.out == 5


def test_pairs_without_trees(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("a b", "b a"), ("c d", "d c"))
    text = '[[stage]]\nuse = "train-paraphraser"\npairs = ["pairs"]\nheld_out = 1\n'
    with pytest.raises(DataError, match="column 'src_parse' not found"):
        run_toml(text, tmp_path)
    with pytest.raises(ConfigError, match="the pairs have no trees"):
        api.train_paraphraser(tmp_path / "pairs", tmp_path / "o")
    with pytest.raises(ConfigError, match="column 'src_parse' not found"):
        api.count_templates(tmp_path / "pairs")


def test_too_few_pairs_and_no_tree(tmp_path: Path) -> None:
    folder = write_parsed_pairs(tmp_path / "pairs", 4)
    text = '[[stage]]\nuse = "train-paraphraser"\npairs = ["pairs"]\n'
    with pytest.raises(DataError, match="cannot hold out 500 of 4 pairs: that is more than half"):
        run_toml(text, tmp_path)
    batch = next(Corpus.open(folder).batches())
    without = batch.set_column(
        batch.schema.get_field_index("tgt_parse"), "tgt_parse", pa.nulls(4, pa.string())
    ).set_column(batch.schema.get_field_index("src_parse"), "src_parse", pa.nulls(4, pa.string()))
    write_corpus(tmp_path / "none", [without], kind="PAIRS")
    with pytest.raises(DataError, match="no pair has a tree"):
        run_toml(text.replace('"pairs"]', '"none"]') + "held_out = 1\n", tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"special_tokens": ("<x>",)}, "'special_tokens' follow from the trees"),
        ({"parser": "p", "parser_name": "stanza:en"}, "'parser' and 'parser_name' cannot be combined"),
        ({"parser_name": "stanzza:en"}, "unknown kind of parser 'stanzza'"),
        ({"free_share": 2.0}, "'free_share' must be from 0 to 1"),
        ({"heads": 3}, "'d_model' must be a multiple of 'heads'"),
        ({"direction": "down"}, "key 'direction'"),
    ],
)
def test_settings_of_training(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainParaphraser(pairs=("pairs",), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "key 'n' must be 1 or more"),
        ({"height": -1}, "key 'height' must be 0"),
        ({"template": "(S)", "like": "x"}, "'template' and 'like' cannot be combined"),
        ({"template": "(S (NP)"}, "the bracket at character 1 is not closed"),
        ({"decode": "beem:5"}, "unknown decoding 'beem'"),
        ({"paraphraser": ()}, "key 'paraphraser' is empty"),
        ({"paraphraser": "round-trip:en-de"}, "needs a translator for each direction"),
        ({"paraphraser": "round-trip:en-de,de-en,pivots=x"}, "expected a whole number from 1, got 'x'"),
        ({"encoder": "english", "preset": "none"}, "'encoder' is for a selection"),
        ({"meaning": 2.0}, "'meaning' must be from 0 to 1"),
        ({"preset": "looser"}, "unknown preset 'looser'.*loose"),
        ({"candidates": 0}, "'candidates' must be 1 or more"),
        ({"candidates": 30, "preset": "none"}, "'candidates' is for a selection"),
    ],
)
def test_settings_of_use(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Paraphrase(**{"paraphraser": "model", **settings})  # type: ignore[arg-type]


def test_commands(paraloom: Command, toy_paraphraser: Path) -> None:
    own = ("--paraphraser", toy_paraphraser, "--preset", "none")
    status, out, err = paraloom("paraphrase", SENTENCE, *own, "-n", 2)
    assert status == 0, err
    assert 1 <= len(out.splitlines()) <= 2 and float(out.split()[0]) <= 0
    status, out, err = paraloom("paraphrase", SENTENCE, SENTENCE, *own, "--template", "auto", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and {line["source"] for line in lines} == {SENTENCE}
    assert {line["template"] for line in lines} <= set(map(read_template, TEMPLATES.values()))
    status, _, err = paraloom("paraphrase", " ", *own)
    assert (status, "the text is empty" in err) == (1, True)
    status, _, err = paraloom("paraphrase", SENTENCE, *own, "--template", "(S (NP)")
    assert status == 1 and "the bracket at character 1 is not closed" in err
    status, out, _ = paraloom("templates", toy_paraphraser, "--count", 1, "--json")
    assert json.loads(out)["templates"][0]["template"] == TEMPLATES["plain"]


def test_evaluation_of_control(paraloom: Command, toy_paraphraser: Path, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 30, seed=7)
    status, out, err = paraloom("research", "evaluate-control", toy_paraphraser, "pairs", "--rows", 12, "--json")
    assert status == 0, err
    result = json.loads(out)
    rows = {(row["system"], row["height"]): row for row in result["rows"]}
    assert len(rows) == 12 and {row["n"] for row in rows.values()} == {12}
    assert rows["copy", 2]["copies"] == rows["copy", 2]["meaning"] == pytest.approx(1)
    # The trees of the toy sentences are what its parser finds.
    assert rows["reference", 2]["exact"] == rows["reference", 3]["exact"] == 1
    assert rows["nearest of 5", 2]["exact"] >= rows["template", 2]["exact"]
    assert rows["template", 2]["valid"] == 1 and rows["free", 2]["valid"] is None
    assert "parser:[parser|grammar:" in result["signature"]
    status, out, _ = paraloom(
        "research", "evaluate-control", toy_paraphraser, "pairs", "--rows", 5, "--heights", "2", "--only-different"
    )
    assert status == 0 and len(out.splitlines()) == 8
    copied = next(line.split() for line in out.splitlines() if line.startswith("copy"))
    assert copied[2] == "0.0%" and "|pairs:different|" in out
    few = measure_control(toy_paraphraser, tmp_path / "pairs", heights=[2], encoder="none", rows=3)
    assert {row.meaning for row in few.rows} == {None}
    for option, message in (
        (("--rows", 0), "'rows' must be 1 or more, got 0"),
        (("--heights", "2,0"), "heights must be 1 or more, got 2, 0"),
        (("--heights", "two"), "--heights: expected whole numbers, got 'two'"),
    ):
        status, _, err = paraloom("research", "evaluate-control", toy_paraphraser, "pairs", *option)
        assert status == 1 and message in err


@pytest.mark.slow
def test_training_by_command(paraloom: Command, toy_paraphraser: Path, tmp_path: Path) -> None:
    pairs = [(text_of(one), text_of(other)) for one, other in tree_pairs(60)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    status, out, err = paraloom(
        *("train", "paraphraser", "pairs.tsv", "--parser", toy_paraphraser / "parser", "--steps", 2),
        *("--vocab-size", 100, "--held-out", 10, "-o", "model", "--json"),
    )
    assert status == 0, err
    figures = json.loads(out)["figures"]
    assert figures["steps"] == 2
    model = library.Paraphraser.load(tmp_path / "model")
    assert model.parser is not None
    assert len(model.candidates([SENTENCE], n=1)) == 1


def test_a_column_is_a_side_of_pairs_or_one_of_a_table(
    toy_paraphraser: Path, paraloom: Command, tmp_path: Path
) -> None:
    (tmp_path / "table.tsv").write_text("one\tthe dog\ntwo\tthe cat\n")
    (tmp_path / "pairs.tsv").write_text("src\ttgt\nthe man\tthe woman\n")
    own = ("--paraphraser", toy_paraphraser, "--preset", "none", "-n", 1, "--no-language-check", "--json")
    for file, column, texts in (
        ("table.tsv", 2, ["the dog", "the cat"]),
        ("pairs.tsv", "tgt", ["the woman"]),
        ("pairs.tsv", "src", ["the man"]),
    ):
        status, out, err = paraloom("paraphrase", tmp_path / file, "--column", column, *own)
        assert status == 0, err
        assert [json.loads(line)["source"] for line in out.splitlines()] == texts
