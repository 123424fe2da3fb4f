"""Decoding: scores against transformers', seeds, threads, and folders that are not whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_language import bitext

from paraloom.core.errors import ModelError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.mt import load_translator, translate_stream
from paraloom.mt.checkpoint import convert
from paraloom.mt.translator import best_translations

SOURCES = [source for source, _ in bitext(60, seed=11)]


def _best(translator: TranslatorLike) -> list[str]:
    return [variants[0].text for variants in translator.translate(SOURCES)]


@pytest.fixture(scope="module")
def exact(toy_translator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exact") / "float32"
    convert(toy_translator / "huggingface", folder, precision="float32")
    return folder


def test_it_is_a_translator_in_the_cores_sense(toy_translator: Path) -> None:
    assert isinstance(load_translator(toy_translator), TranslatorLike)


@pytest.mark.parametrize("decode", ["beam:4,nbest=3", "beam:4,nbest=3,length_penalty=0", "sampling,nbest=3", "topk:5"])
def test_logprob_is_the_models_own(toy_translator: Path, exact: Path, decode: str) -> None:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    checkpoint = toy_translator / "huggingface"
    model, tokenizer = MarianMTModel.from_pretrained(checkpoint).eval(), MarianTokenizer.from_pretrained(checkpoint)
    for source, variants in zip(
        SOURCES[:8], load_translator(exact, decode).translate(SOURCES[:8], seed=3), strict=True
    ):
        for variant in variants:
            labels = tokenizer(text_target=variant.text, return_tensors="pt").input_ids
            if labels.shape[1] != variant.tokens:
                continue  # a sample may spell a word with other pieces than the tokenizer would
            with torch.no_grad():
                logits = model(**tokenizer(source, return_tensors="pt"), labels=labels).logits[..., :-1]  # less <pad>
            logits[0, 0, 0] = -torch.inf  # no translation ends before it begins
            wanted = logits.log_softmax(-1)[0].gather(1, labels[0][:, None]).sum()
            assert variant.logprob == pytest.approx(float(wanted), abs=2e-3)


def test_scoring_agrees_with_decoding(exact: Path) -> None:
    translator = load_translator(exact)
    found = [variants[0] for variants in translator.translate(SOURCES)]
    assert not any(each.cut for each in found)
    scored = translator.score(SOURCES, [variant.text for variant in found])
    assert [tokens for _, tokens in scored] == [variant.tokens for variant in found]
    np.testing.assert_allclose([logprob for logprob, _ in scored], [v.logprob for v in found], atol=0.02)


def test_greedy_equals_transformers_generate(toy_translator: Path, exact: Path) -> None:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    checkpoint = toy_translator / "huggingface"
    model, tokenizer = MarianMTModel.from_pretrained(checkpoint).eval(), MarianTokenizer.from_pretrained(checkpoint)
    with torch.no_grad():
        rows = model.generate(**tokenizer(SOURCES, return_tensors="pt", padding=True), num_beams=1, max_length=40)
    theirs = tokenizer.batch_decode(rows, skip_special_tokens=True)
    ours = [variants[0].text for variants in load_translator(exact, "greedy").translate(SOURCES)]
    assert sum(a == b for a, b in zip(ours, theirs, strict=True)) >= len(SOURCES) - 1


@pytest.mark.parametrize("decode", ["beam:3,nbest=2", "sampling,nbest=2", "nucleus:0.9,nbest=2", "topk:5,nbest=2"])
def test_threads_change_nothing(toy_translator: Path, decode: str) -> None:
    translator = load_translator(toy_translator, decode)
    chunks = [SOURCES[i : i + 7] for i in range(0, len(SOURCES), 7)]
    one, three = (list(translate_stream(translator, chunks, threads=n, seed=4)) for n in (1, 3))
    assert one == three
    assert [len(part) for part in one] == [len(chunk) for chunk in chunks]


def test_a_whole_text_is_translated_in_order(exact: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.mt.translator.CHUNK", 7)
    translator = load_translator(exact)
    assert best_translations(translator, SOURCES) == _best(translator) != _best(translator)[::-1]
    assert best_translations(translator, []) == []


def test_the_seed_decides_the_samples(toy_translator: Path) -> None:
    translator = load_translator(toy_translator, "sampling,temperature=3")
    assert translator.translate(SOURCES, seed=1) == translator.translate(SOURCES, seed=1)
    assert translator.translate(SOURCES, seed=1) != translator.translate(SOURCES, seed=2)


def test_the_first_of_several_samples_is_a_fair_draw(toy_translator: Path) -> None:
    translator = load_translator(toy_translator, "sampling,nbest=4,temperature=2")
    groups = translator.translate([source for source, _ in bitext(300, seed=12)], seed=1)
    best_first = np.mean([max(group, key=lambda v: v.logprob) is group[0] for group in groups])
    assert 0.15 < best_first < 0.4  # sorted by score it would be 1; ties raise it a little above 1/4


def test_order_and_company_change_nothing(toy_translator: Path) -> None:
    translator = load_translator(toy_translator)
    together = translator.translate(SOURCES)
    for others in (
        [translator.translate([source])[0] for source in SOURCES],
        translator.translate(SOURCES[::-1])[::-1],
    ):
        for (a,), (b,) in zip(together, others, strict=True):
            assert (a.text, a.tokens) == (b.text, b.tokens)
            assert a.logprob == pytest.approx(b.logprob, abs=1e-4)


def test_empty_and_very_long_sentences_have_a_defined_answer(toy_translator: Path) -> None:
    empty, blank, long = load_translator(toy_translator).translate(["", " \t ", "rako " * 2000])
    assert empty[0] == blank[0] == Variant("", 0.0, 0)
    assert 1 <= long[0].tokens <= 256


def test_a_translator_that_says_the_same_for_ever_is_stopped_by_the_length_of_its_source(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    from toy_language import TOY_CONFIG, toy_bitext

    from paraloom.mt.training import train_translator

    train_translator(lambda: toy_bitext(100), toy_bitext(20, seed=2), replace(TOY_CONFIG, steps=1), tmp_path)
    short, long = "rako gor", " ".join(["rako"] * 300)
    for decode in ("greedy", "beam:3"):
        found = load_translator(tmp_path, decode).translate([short, long, short])
        # Of 9 to 16 sub-words, and of as many as are read: 3 × 16 + 16, and 256.
        assert [variants[0].tokens for variants in found] == [64, 256, 64]
        assert all(variants[0].cut for variants in found)
    drawn = load_translator(tmp_path, "topk:2,nbest=2,temperature=0.01").translate([short])
    assert [(each.tokens, each.cut) for each in drawn[0]] == [(256, True)] * 2


@pytest.mark.parametrize("name", ["model.bin", "config.json", "source.spm", "target.spm", "shared_vocabulary.json"])
def test_a_folder_that_lacks_a_file_is_refused_by_name(toy_translator: Path, tmp_path: Path, name: str) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(toy_translator, broken)
    (broken / name).unlink()
    with pytest.raises(ModelError, match=name):
        load_translator(broken).translate(["rako"])


def test_truncated_weights_are_refused(toy_translator: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(toy_translator, broken)
    (broken / "model.bin").write_bytes((broken / "model.bin").read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot load"):
        load_translator(broken).translate(["rako"])


def test_a_checkpoint_folder_is_converted_once(
    toy_translator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    first = load_translator(toy_translator / "huggingface")
    made = (first.folder / "model.bin").stat().st_mtime_ns
    assert first.translate(SOURCES[:3]) == load_translator(toy_translator).translate(SOURCES[:3])
    assert (load_translator(toy_translator / "huggingface").folder / "model.bin").stat().st_mtime_ns == made


def test_pickled_weights_are_refused(toy_translator: Path, tmp_path: Path) -> None:
    pickled = tmp_path / "pickled"
    shutil.copytree(toy_translator / "huggingface", pickled)
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        load_translator(pickled)


def test_a_hugging_face_name_is_loaded_from_its_cache_without_a_network(toy_translator: Path, tmp_path: Path) -> None:
    commit = "0" * 40
    repository = tmp_path / "hub" / "models--tests--kal-en"
    shutil.copytree(toy_translator / "huggingface", repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    script = "from paraloom.mt import load_translator as l; print(l('tests/kal-en').translate(['rako mili dasat']))"
    environment = os.environ | {
        "HF_HUB_CACHE": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "1",
        "PARALOOM_CACHE": str(tmp_path / "cache"),
    }
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "the dog sees the cat" in found.stdout


def test_a_name_that_cannot_be_had_says_what_to_give(tmp_path: Path) -> None:
    script = "from paraloom.mt import load_translator as l; l('tests/nothing')"
    environment = os.environ | {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1", "PARALOOM_CACHE": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "ModelError: tests/nothing: no Marian translator could be read from it" in found.stderr


def test_a_shortlist_holds_what_words_come_to_and_decodes_the_same(toy_translator: Path, tmp_path: Path) -> None:
    from toy_language import TOY_CONFIG, toy_bitext

    from paraloom.mt.training import train_translator

    lines = (toy_translator / "vmap.txt").read_text(encoding="utf-8").splitlines()
    listed = {key: row.split() for key, row in (line.split("\t") for line in lines)}
    assert "" in listed and len(listed) > 20
    assert all(1 <= len(words) <= 25 for key, words in listed.items() if key)
    # A beam whose scores are divided by lengths stops at the third end it meets.  Which ends come first may depend on
    # the share that smoothing gives to every word, the left out ones too: so not divided, or not smoothed.
    for decode in ("greedy", "beam:3,length_penalty=0"):
        whole, short = (load_translator(toy_translator, f"{decode}{end}") for end in ("", ",shortlist=1"))
        assert _best(short) == _best(whole)
    sure = tmp_path / "sure"
    unsmoothed = replace(TOY_CONFIG, smoothing=0.0, steps=800)
    train_translator(lambda: toy_bitext(1500), toy_bitext(100, seed=2), unsmoothed, sure)
    whole, short = (load_translator(sure, f"beam:3{end}") for end in ("", ",shortlist=1"))
    assert _best(short) == _best(whole)
    assert short.signature != whole.signature
    bare = tmp_path / "bare"
    shutil.copytree(toy_translator, bare)
    (bare / "vmap.txt").unlink()
    with pytest.raises(ModelError, match="no shortlist"):
        load_translator(bare, "sampling,shortlist=1").translate(SOURCES[:1])
    # A list that leaves a word out keeps it from being said.
    text = "".join(f"{key}\t{' '.join(w for w in words if 'dog' not in w)}\n" for key, words in listed.items())
    (bare / "vmap.txt").write_text(text, encoding="utf-8")
    said = load_translator(bare, "beam:3,shortlist=1").translate(SOURCES)
    assert any("dog" in text for text in _best(load_translator(toy_translator, "beam:3")))
    assert not any(" dog" in each[0].text for each in said)
