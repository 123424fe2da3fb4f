"""Decoding: scores against transformers', seeds, threads, maximum lengths, shortlists, incomplete folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toy_language import bitext

from paraloom.core.errors import ModelError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.mt import Translator, translate_stream
from paraloom.mt.checkpoint import convert
from paraloom.mt.streams import best_translations

SOURCES = [source for source, _ in bitext(60, seed=11)]


def best(translator: Translator, sentences: list[str] = SOURCES) -> list[str]:
    return [variants[0].text for variants in translator.translate(sentences)]


@pytest.fixture(scope="module")
def exact(toy_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy translator in float32."""
    folder = tmp_path_factory.mktemp("exact") / "float32"
    convert(toy_translator / "huggingface", folder, precision="float32")
    return folder


@pytest.fixture(scope="module")
def endless(toy_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator that never ends a sentence by itself: the bias of `</s>` is very low."""
    torch = pytest.importorskip("torch")
    from transformers import MarianMTModel

    from paraloom.mt.checkpoint import save_checkpoint

    model = MarianMTModel.from_pretrained(toy_translator / "huggingface")
    with torch.no_grad():
        model.final_logits_bias[:, 0] = -1e4
    folder = tmp_path_factory.mktemp("endless")
    save_checkpoint(model, folder / "huggingface", toy_translator / "huggingface")
    convert(folder / "huggingface", folder / "model", precision="float32")
    return folder / "model"


def test_it_is_a_translator_for_other_packages(toy_translator: Path) -> None:
    assert isinstance(Translator.load(toy_translator), TranslatorLike)


def in_pieces(model: Path, decode: str = "beam:5") -> Translator:
    """A translator whose variants are the subwords that it chose, with spaces between: a text has several spellings."""
    translator = Translator.load(model, decode=decode)
    translator._codec.decode = lambda rows: [" ".join(row) for row in rows]  # type: ignore[method-assign]
    return translator


@pytest.mark.parametrize("decode", ["beam:4,nbest=3", "beam:4,nbest=3,length_penalty=0", "sampling,nbest=3", "topk:5"])
def test_logprob_equals_that_of_transformers(toy_translator: Path, exact: Path, decode: str) -> None:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    checkpoint = toy_translator / "huggingface"
    model, tokenizer = MarianMTModel.from_pretrained(checkpoint).eval(), MarianTokenizer.from_pretrained(checkpoint)
    groups = in_pieces(exact, decode).translate(SOURCES[:8], seed=3)
    assert len(groups) == 8 and all(groups)
    for source, variants in zip(SOURCES[:8], groups, strict=True):
        for variant in variants:
            words = [*variant.text.split(" "), *([] if variant.cut else ["</s>"])]
            assert variant.tokens == len(words)
            labels = torch.tensor([tokenizer.convert_tokens_to_ids(words)])
            with torch.no_grad():
                logits = model(**tokenizer(source, return_tensors="pt"), labels=labels).logits[..., :-1]  # no <pad>
            logits[0, 0, 0] = -torch.inf  # no translation is empty
            expected = logits.log_softmax(-1)[0].gather(1, labels[0][:, None]).sum()
            assert variant.logprob == pytest.approx(float(expected), abs=2e-3)


def test_scoring_agrees_with_decoding(exact: Path) -> None:
    translator = in_pieces(exact)
    variants = [group[0] for group in translator.translate(SOURCES)]
    translator._codec.encode_target = lambda texts: [text.split() for text in texts]  # type: ignore[method-assign]
    pieces = [variant.text for variant in variants]
    whole, beginnings = translator._decoder.score(SOURCES, pieces), translator._decoder.score_prefixes(SOURCES, pieces)
    # No decoded translation is empty, so the probability of that is shared by all others.
    empty = np.array([score for score, _ in translator._decoder.score(SOURCES, [""] * len(SOURCES))])
    cut = [variant.cut for variant in variants]
    assert [tokens - one for (_, tokens), one in zip(whole, cut, strict=True)] == [one.tokens for one in variants]
    expected = np.where(cut, beginnings, [score for score, _ in whole]) - np.log1p(-np.exp(empty))
    np.testing.assert_allclose([variant.logprob for variant in variants], expected, atol=2e-3)


def test_greedy_decoding_equals_that_of_transformers(toy_translator: Path, exact: Path) -> None:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    checkpoint = toy_translator / "huggingface"
    model, tokenizer = MarianMTModel.from_pretrained(checkpoint).eval(), MarianTokenizer.from_pretrained(checkpoint)
    with torch.no_grad():
        rows = model.generate(**tokenizer(SOURCES, return_tensors="pt", padding=True), num_beams=1, max_length=40)
    theirs = tokenizer.batch_decode(rows, skip_special_tokens=True)
    ours = best(Translator.load(exact, decode="greedy"))
    # Rounding may decide a tie between two words differently.
    assert sum(a == b for a, b in zip(ours, theirs, strict=True)) >= len(SOURCES) - 1


@pytest.mark.parametrize(
    "decode", ["beam:3,nbest=2", "sampling,nbest=2", "nucleus:0.9,nbest=2", "topk:5,nbest=2", "mbr:chrf,samples=4"]
)
def test_the_number_of_threads_changes_nothing(toy_translator: Path, decode: str) -> None:
    translator = Translator.load(toy_translator, decode=decode)
    chunks = [SOURCES[i : i + 7] for i in range(0, len(SOURCES), 7)]
    one, three = (list(translate_stream(translator, chunks, threads=n, seed=4)) for n in (1, 3))
    assert one == three
    assert [len(part) for part in one] == [len(chunk) for chunk in chunks]


def test_best_translations_keep_their_order(exact: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.mt.streams.CHUNK", 7)
    translator = Translator.load(exact)
    assert best_translations(translator, SOURCES) == best(translator)
    assert best_translations(translator, []) == []


def test_the_seed_decides_the_samples(toy_translator: Path) -> None:
    translator = Translator.load(toy_translator, decode="sampling,temperature=3")
    assert translator.translate(SOURCES, seed=1) == translator.translate(SOURCES, seed=1)
    assert translator.translate(SOURCES, seed=1) != translator.translate(SOURCES, seed=2)


def test_the_first_of_several_samples_is_a_fair_draw(toy_translator: Path) -> None:
    # At this temperature words are nearly equally likely, so that no two samples have the same score.
    translator = Translator.load(toy_translator, decode="sampling,nbest=4,temperature=20")
    groups = translator.translate([source for source, _ in bitext(200, seed=12)], seed=1)
    best_first = np.mean([max(group, key=lambda variant: variant.logprob) is group[0] for group in groups])
    assert 0.15 < best_first < 0.35  # 1/4 is expected; sorted by score it would be 1


def test_order_and_company_change_nothing(toy_translator: Path) -> None:
    translator = Translator.load(toy_translator)
    together = translator.translate(SOURCES)
    for others in (
        [translator.translate([source])[0] for source in SOURCES],
        translator.translate(SOURCES[::-1])[::-1],
    ):
        for (a,), (b,) in zip(together, others, strict=True):
            assert (a.text, a.tokens) == (b.text, b.tokens)
            assert a.logprob == pytest.approx(b.logprob, abs=1e-4)


def test_empty_and_very_long_sentences(toy_translator: Path) -> None:
    empty, blank, long = Translator.load(toy_translator).translate(["", " \t ", "rako " * 2000])
    assert empty[0] == blank[0] == Variant("", 0.0, 0)
    assert long[0].pieces > 1 and long[0].tokens > 256


@pytest.mark.parametrize("decode", ["greedy", "beam:3"])
def test_a_beam_stops_at_a_length_that_depends_on_the_source(endless: Path, decode: str) -> None:
    short, long = "rako gor", " ".join(["rako"] * 300)
    with pytest.warns(UserWarning, match="are truncated"):
        groups = Translator.load(endless, decode=decode, long="truncate").translate([short, long, short])
    variants = [group[0] for group in groups]
    pieces = len(Translator.load(endless)._codec.encode([short])[0])
    limit = 24 * -(-pieces // 8) + 16
    assert [variant.tokens for variant in variants] == [limit, 256, limit]
    assert all(variant.cut for variant in variants)


def test_a_sample_stops_at_the_maximum_length(endless: Path) -> None:
    (variants,) = Translator.load(endless, decode="topk:2,nbest=2").translate(["rako gor"])
    assert [(variant.tokens, variant.cut) for variant in variants] == [(256, True)] * 2


def test_a_shortlist_lists_at_most_25_subwords_each(toy_translator: Path) -> None:
    lines = (toy_translator / "vmap.txt").read_text(encoding="utf-8").splitlines()
    listed = {key: row.split() for key, row in (line.split("\t") for line in lines)}
    assert "" in listed and len(listed) > 20
    assert all(1 <= len(words) <= 25 for key, words in listed.items() if key)


@pytest.mark.parametrize("decode", ["greedy", "beam:3,length_penalty=0"])
def test_a_shortlist_of_the_whole_vocabulary_changes_no_translation(exact: Path, tmp_path: Path, decode: str) -> None:
    folder = with_shortlist(exact, tmp_path / "all", without="")
    full, short = (Translator.load(folder, decode=f"{decode}{end}") for end in ("", ",shortlist=1"))
    assert best(short) == best(full)
    assert short.signature != full.signature


def test_words_that_a_shortlist_lacks_are_not_used(exact: Path, tmp_path: Path) -> None:
    translator = Translator.load(exact, decode="greedy")
    rows = translator._codec.encode(SOURCES)
    hypotheses = [result.hypotheses[0] for result in translator._decoder.engine().translate_batch(rows, beam_size=1)]
    piece = next(piece for hypothesis in hypotheses for piece in hypothesis)
    folder = with_shortlist(exact, tmp_path / "less", without=piece)
    engine = Translator.load(folder)._decoder.engine()
    results = engine.translate_batch(rows, beam_size=1, use_vmap=True, max_decoding_length=50)
    assert not any(piece in result.hypotheses[0] for result in results)


def test_decoding_with_a_shortlist_needs_one(exact: Path) -> None:
    with pytest.raises(ModelError, match="no shortlist"):
        Translator.load(exact, decode="sampling,shortlist=1").translate(SOURCES[:1])


def with_shortlist(model: Path, folder: Path, *, without: str) -> Path:
    """A copy of a translator with a shortlist of all subwords but one."""
    import json

    shutil.copytree(model, folder)
    pieces = json.loads((folder / "shared_vocabulary.json").read_text(encoding="utf-8"))
    (folder / "vmap.txt").write_text("\t" + " ".join(piece for piece in pieces if piece != without) + "\n")
    return folder


@pytest.mark.parametrize("name", ["model.bin", "config.json", "source.spm", "target.spm", "shared_vocabulary.json"])
def test_an_incomplete_folder_is_refused(toy_translator: Path, tmp_path: Path, name: str) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(toy_translator, broken)
    (broken / name).unlink()
    with pytest.raises(ModelError, match=f"{name} not found"):
        Translator(broken).translate(["rako"])


def test_truncated_weights_are_refused(toy_translator: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(toy_translator, broken)
    (broken / "model.bin").write_bytes((broken / "model.bin").read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot load"):
        Translator.load(broken).translate(["rako"])


def test_a_checkpoint_folder_is_converted_once(
    toy_translator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    first = Translator.load(toy_translator / "huggingface")
    converted = (first.folder / "model.bin").stat().st_mtime_ns
    assert first.translate(SOURCES[:3]) == Translator.load(toy_translator).translate(SOURCES[:3])
    assert (Translator.load(toy_translator / "huggingface").folder / "model.bin").stat().st_mtime_ns == converted


def test_pickled_weights_are_refused(toy_translator: Path, tmp_path: Path) -> None:
    pickled = tmp_path / "pickled"
    shutil.copytree(toy_translator / "huggingface", pickled)
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        Translator.load(pickled)


def run_python(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"HF_HUB_OFFLINE": "1", "PARALOOM_CACHE": str(folder / "cache"), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_hugging_face_name_is_loaded_from_its_cache_without_a_network(toy_translator: Path, tmp_path: Path) -> None:
    commit = "0" * 40
    repository = tmp_path / "hub" / "models--tests--kal-en"
    shutil.copytree(toy_translator / "huggingface", repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    script = (
        "from paraloom.mt import Translator as T; print(T.load('tests/kal-en').translate('rako mili dasat')[0].text)"
    )
    process = run_python(script, tmp_path, HF_HUB_CACHE=str(tmp_path / "hub"))
    assert process.stdout.strip() == Translator.load(toy_translator).translate("rako mili dasat")[0].text


@pytest.mark.slow
def test_an_unknown_hugging_face_name_is_refused(tmp_path: Path) -> None:
    script = "from paraloom.mt import Translator as T; T.load('tests/nothing')"
    process = run_python(script, tmp_path, HF_HUB_CACHE=str(tmp_path))
    assert "ModelError: tests/nothing: not on this machine" in process.stderr
