"""Families of translators: as transformers decodes them, language tokens, long lines, memory, bad checkpoints."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from math import isnan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_translators import KINDS, SENTENCES, write_checkpoint

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.stage import StageContext
from paraloom.mt import Translator
from paraloom.mt.checkpoint import PRECISIONS, convert
from paraloom.mt.families import FAMILIES, MODEL_TYPES, checkpoint_family, family_names, get_family
from paraloom.mt.families.base import read_vocabulary
from paraloom.stages.translators import LoadTranslator

pytest.importorskip("torch", reason="conversion needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="conversion needs transformers: pip install 'paraloom[train]'")

TOKENS = 20
"""Tokens of a translation, in both libraries."""

LANGUAGES: dict[str, dict[str, str]] = {
    "marian": {"target": "fr"},
    "m2m100": {"source": "de", "target": "en"},
    "nllb": {"source": "deu", "target": "eng_Latn"},
    "mbart50": {"source": "German", "target": "en"},
    "madlad": {"target": "zh-TW"},
    "t5": {"source": "en", "target": "fr"},
}
"""What each kind is asked for; the others have no languages."""

PROMPTS = {"marian": ">>fra<< ", "madlad": "<2zh_Hant> ", "t5": "translate English to French: "}

PAIRS = {
    "m2m100": [
        ("de", "en", "__de__", "__en__"),
        ("zho", "pt-BR", "__zh__", "__pt__"),
        ("nso", "sr", "__ns__", "__sr__"),
    ],
    "nllb": [
        ("de", "en", "deu_Latn", "eng_Latn"),
        ("zh-TW", "Kurdish (Northern)", "zho_Hant", "kmr_Latn"),
        ("no", "fa", "nob_Latn", "pes_Arab"),
    ],
    "mbart50": [("de", "en", "de_DE", "en_XX"), ("jpn", "ukr_Cyrl", "ja_XX", "uk_UA"), ("fas", "sw", "fa_IR", "sw_KE")],
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a checkpoint when a test first asks for it."""
    base = tmp_path_factory.mktemp("checkpoints")
    return lambda kind: base / kind if (base / kind).is_dir() else write_checkpoint(kind, base / kind)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARALOOM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def load(checkpoint: Callable[[str], Path], kind: str, **options: Any) -> Translator:
    options = {"precision": "float32", **LANGUAGES.get(kind, {}), **options}
    return Translator.load(checkpoint(kind), check_costs=False, **options)


def theirs(folder: Path, kind: str, translator: Translator, beams: int) -> list[str]:
    """The translations of transformers."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    options: dict[str, Any] = {}
    if kind in PAIRS:
        source, target = PAIRS[kind][0][2:]
        tokenizer.src_lang = source.strip("_") if kind == "m2m100" else source
        options["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(target)
    forced = len(translator._codec.prefix)
    with torch.no_grad():
        rows = model.generate(
            **tokenizer([PROMPTS.get(kind, "") + text for text in SENTENCES], return_tensors="pt", padding=True),
            num_beams=beams,
            do_sample=False,
            length_penalty=0.0,
            max_new_tokens=TOKENS + forced,
            min_new_tokens=1 + forced,
            forced_eos_token_id=None,
            **options,
        )
    return [text.replace("<unk>", "").strip() for text in tokenizer.batch_decode(rows, skip_special_tokens=True)]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_translations_equal_those_of_transformers(
    checkpoint: Callable[[str], Path], kind: str, beams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = load(checkpoint, kind, decode=f"beam:{beams},length_penalty=0")
    monkeypatch.setattr(translator._codec, "max_target", TOKENS)
    ours = [variants[0].text for variants in translator.translate(SENTENCES)]
    # Rounding may decide a tie between two words differently.
    different = [pair for pair in zip(ours, theirs(checkpoint(kind), kind, translator, beams), strict=True)]
    assert sum(one != other for one, other in different) <= 2, [pair for pair in different if pair[0] != pair[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_log_probabilities(checkpoint: Callable[[str], Path], kind: str) -> None:
    import torch
    from transformers import AutoModelForSeq2SeqLM

    translator = load(checkpoint, kind)
    codec, sources, targets = translator._codec, SENTENCES[:3], SENTENCES[3:6]
    index = {token: number for number, token in enumerate(read_vocabulary(translator.folder))}
    model = AutoModelForSeq2SeqLM.from_pretrained(checkpoint(kind)).eval()
    beginnings = translator.score_prefixes(sources, targets)
    for row, (logprob, tokens) in enumerate(translator.score(sources, targets)):
        source, target = codec.encode([sources[row]])[0], [*codec.prefix, *codec.encode_target([targets[row]])[0]]
        labels = [index.get(token, index["<unk>"]) for token in [*target, "</s>"]]
        start = model.config.decoder_start_token_id
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([[index.get(token, index["<unk>"]) for token in source]]),
                decoder_input_ids=torch.tensor([[start, *labels[:-1]]]),
            ).logits[0]
        if kind == "marian":
            logits = logits[:, :-1]  # no <pad>
        steps = logits.log_softmax(-1)[range(len(labels)), labels][len(codec.prefix) :]
        assert (logprob, tokens) == (pytest.approx(float(steps.sum()), abs=2e-3), len(steps))
        assert beginnings[row] == pytest.approx(float(steps[:-1].sum()), abs=2e-3)  # without the end of sentence


@pytest.mark.parametrize("kind", PAIRS)
def test_language_tokens(checkpoint: Callable[[str], Path], kind: str) -> None:
    for source, target, first, prefix in PAIRS[kind]:
        translator = load(checkpoint, kind, source=source, target=target)
        ((tokens),) = translator._codec.encode(["Rako"])
        assert (tokens[0], tokens[-1], translator._codec.prefix) == (first, "</s>", (prefix,))
        # The prefix is not part of the text, and a copy has the same languages.
        assert prefix not in translator.translate(SENTENCES[:2])[0][0].text
        assert translator.with_decoding("greedy")._codec.prefix == (prefix,)


@pytest.mark.slow
def test_decoding_strings_mean_the_same_for_all(checkpoint: Callable[[str], Path]) -> None:
    translator = load(checkpoint, "nllb")
    assert [len(group) for group in translator.translate(SENTENCES[:2], decode="beam:4,nbest=3")] == [3, 3]
    sampled = translator.translate(SENTENCES, decode="nucleus:0.9,nbest=2", seed=3)
    assert sampled == translator.translate(SENTENCES, decode="nucleus:0.9,nbest=2", seed=3)
    assert sampled != translator.translate(SENTENCES, decode="nucleus:0.9,nbest=2", seed=4)
    ((best,),) = translator.translate(SENTENCES[:1], decode="mbr:chrf,samples=4")
    assert best.utility is not None


def test_signatures_have_the_languages(checkpoint: Callable[[str], Path]) -> None:
    one, other = load(checkpoint, "nllb"), load(checkpoint, "nllb", target="fr")
    assert one.signature != other.signature
    assert "languages" not in load(checkpoint, "marian").signature


def test_unknown_languages_name_the_nearest(checkpoint: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigError, match="unknown target language 'grman' of NLLB-200") as error:
        load(checkpoint, "nllb", target="grman")
    assert "202 languages" in str(error.value) and "deu_Latn (German)" in str(error.value)
    with pytest.raises(ConfigError, match="unknown source language 'tlh' of mBART-50"):
        load(checkpoint, "mbart50", source="tlh")
    with pytest.raises(ConfigError, match=r"no target language is named(.|\n)*NAME\?to=de"):
        Translator.load(checkpoint("nllb"), source="de")
    with pytest.raises(ConfigError, match="a source and a target language, or none"):
        load(checkpoint, "t5", source="en", target=None)
    with pytest.raises(ConfigError, match="unknown target language 'cs' of T5"):
        load(checkpoint, "t5", target="cs")
    assert load(checkpoint, "madlad", target="tlh").target == "tlh"  # not in the table, but in the model


@pytest.mark.parametrize("kind", ["t5", "mt5", "madlad"])
@pytest.mark.parametrize("precision", ["float16", "int8_float16"])
def test_t5_does_not_run_in_float16(checkpoint: Callable[[str], Path], kind: str, precision: str) -> None:
    with pytest.raises(ConfigError, match=f"give rubbish in {precision}"):
        load(checkpoint, kind, precision=precision)


def test_precisions(checkpoint: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigError, match="unknown precision 'int9'"):
        load(checkpoint, "nllb", precision="int9")
    for kind in ("nllb", "t5"):
        settings = json.loads((load(checkpoint, kind, precision="auto").folder / "translator.json").read_text())
        assert settings["precision"] == "int8"
    assert set(PRECISIONS) >= {"int8", "int8_float16", "float16", "bfloat16", "float32"}


def test_a_checkpoint_is_converted_once(checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = load(checkpoint, "nllb").folder
    monkeypatch.setattr("paraloom.mt.checkpoint.convert", lambda *_, **__: pytest.fail("converted again"))
    assert load(checkpoint, "nllb").folder == folder


def test_no_space_for_the_cache(
    checkpoint: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(ModelError, match="kB are free"):
        convert(checkpoint("nllb"), tmp_path / "model", precision="int8")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_missing_files_are_named(checkpoint: Callable[[str], Path], kind: str, tmp_path: Path) -> None:
    group = checkpoint_family(checkpoint(kind)).tokenizer_files[0]  # type: ignore[attr-defined]
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "copy", ignore=shutil.ignore_patterns(*group)))
    with pytest.raises(ModelError, match=f"{' or '.join(group)} not found"):
        Translator.load(folder)


def test_pickles_are_refused(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("nllb"), tmp_path / "copy"))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pickled(.|\n)*save_pretrained"):
        Translator.load(folder)


def test_other_kinds_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"model_type": "seamless_m4t", "architectures": ["SeamlessM4TModel"]}')
    with pytest.raises(ModelError, match=r"SeamlessM4TModel are not supported(.|\n)*m2m_100, marian"):
        Translator.load(tmp_path)
    with pytest.raises(
        ModelError, match=r"LlamaForCausalLM is a language model(.|\n)*127\.0\.0\.1:8000/v1\?model=NAME"
    ):
        family_names({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})
    with pytest.raises(ModelError, match="names no model_type"):
        family_names({})


def test_language_tokens_that_the_tokenizer_lacks(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("nllb"), tmp_path / "copy"))
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["added_tokens"] = [row for row in tokenizer["added_tokens"] if "_" not in row["content"]]
    path.write_text(json.dumps(tokenizer))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "special_tokens_map.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "extra_special_tokens": ["<x>"]}))
    with pytest.raises(ModelError, match="language tokens of NLLB-200"):
        Translator.load(folder, source="de", target="en")


def test_a_model_that_was_converted_wrong(
    checkpoint: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctranslate2.converters.transformers import T5Loader

    original = T5Loader.get_model_spec

    def scaled(loader: T5Loader, model: Any) -> Any:
        # As ctranslate2 and transformers 5 do it together: outputs scaled as if embeddings were tied.
        model.config.tie_word_embeddings = True
        return original(loader, model)

    monkeypatch.setattr(T5Loader, "get_model_spec", scaled)
    with pytest.raises(ModelError, match=r"does not score 'This is a sentence.' as the checkpoint does: -\d"):
        convert(checkpoint("madlad"), tmp_path / "model", precision="float32")
    assert not (tmp_path / "model").exists()


def test_long_lines(checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    long = " ".join(f"{sentence}." for sentence in SENTENCES)
    translator = load(checkpoint, "nllb", decode="beam:2,nbest=2")
    monkeypatch.setattr(translator._codec, "max_source", 24)
    (short,), whole = translator.translate(SENTENCES[:1], decode="greedy"), translator.translate([long, SENTENCES[0]])
    assert [variant.pieces for variant in (*short, *whole[0], *whole[1])] == [1, len(SENTENCES), len(SENTENCES), 1, 1]
    parts = translator.translate([f"{sentence}." for sentence in SENTENCES])
    assert whole[0][1].text == " ".join(part[1].text for part in parts if part[1].text)
    assert whole[0][0].logprob == pytest.approx(sum(part[0].logprob for part in parts), abs=1e-3)
    assert whole[0][0].tokens == sum(part[0].tokens for part in parts)

    translator.long = "reject"
    (rejected,) = translator.translate([long])[0]
    assert rejected.reason == "longer than 24 subwords" and isnan(rejected.logprob) and rejected.text == ""
    translator.long = "error"
    with pytest.raises(DataError, match="row 2: the text has"):
        translator.translate([SENTENCES[0], long])
    translator.long = "truncate"
    with pytest.warns(UserWarning, match="more than 24 subwords are truncated"):
        ((cut, _),) = translator.translate([long])
    assert cut.pieces == 1
    with pytest.raises(ConfigError, match="unknown treatment of long lines 'cut'"):
        load(checkpoint, "nllb", long="cut")


def test_pairs_that_are_too_long_have_no_score(checkpoint: Callable[[str], Path]) -> None:
    translator = load(checkpoint, "bart")  # has 128 positions
    (first, _), (second, tokens) = translator.score([SENTENCES[0]] * 2, [SENTENCES[1], "rako " * 200])
    assert first < 0 and isnan(second) and tokens > 200
    first, second = translator.score_prefixes([SENTENCES[0]] * 2, [SENTENCES[1], "rako " * 200])
    assert first < 0 and isnan(second)


def test_out_of_memory_halves_the_batch(checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    translator = load(checkpoint, "nllb", decode="greedy")
    expected, engine, sizes = translator.translate(SENTENCES), translator._decoder.engine(), []

    class Small:
        """An engine on a GPU with little memory."""

        def translate_batch(self, *arguments: Any, **options: Any) -> Any:
            sizes.append(options["max_batch_size"])
            if sizes[-1] > 200:
                raise RuntimeError("CUDA failed with error out of memory")
            return engine.translate_batch(*arguments, **options)

    monkeypatch.setattr(translator._decoder, "_engine", Small())
    with pytest.warns(UserWarning, match="batches of 160 subwords"):
        smaller = translator.translate(SENTENCES)
    assert [variants[0].text for variants in smaller] == [variants[0].text for variants in expected]
    assert sizes[:3] == [640, 320, 160] and set(sizes[2:]) == {160}


def test_a_folder_that_ctranslate2_wrote_is_recognized(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    translator = load(checkpoint, "nllb")
    (Path(shutil.copytree(translator.folder, tmp_path / "bare")) / "translator.json").unlink()
    other = Translator.load(tmp_path / "bare", source="de", target="en")
    assert other.translate(SENTENCES[:3]) == translator.translate(SENTENCES[:3])


def test_commands_name_languages(
    checkpoint: Callable[[str], Path], paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    folder = checkpoint("nllb")
    (tmp_path / "in.txt").write_text("\n".join(SENTENCES[:8]) + "\n")
    named, options = f"{folder}?from=deu&to=en&precision=float32", ("--decode", "greedy", "--no-language-check")
    status, out, err = paraloom("translate", named, "in.txt", *options)
    assert status == 0, err
    expected = [group[0].text for group in load(checkpoint, "nllb", decode="greedy").translate(SENTENCES[:8])]
    assert out.splitlines() == expected
    (tmp_path / "pairs.de-en.tsv").write_text("".join(f"{text}\tno\n" for text in SENTENCES[:8]))
    arguments = ("pairs.de-en.tsv", "--translator", named, *options, "--engine", "inline")
    status, out, err = paraloom("backtranslate", *arguments, "-o", "out.jsonl")
    assert status == 0, err
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    # An empty translation, as a random model may give, is left out.
    assert [(row["tgt"], row["pieces"]) for row in rows] == [(text, 1) for text in expected if text]
    status, _, err = paraloom("translate", f"{folder}?from=de&to=xx", "in.txt")
    assert status == 1 and "unknown target language 'xx' of NLLB-200" in err
    status, _, err = paraloom("translate", named, "in.txt", *options, "--device", "cuda:9")
    assert status == 1 and "GPU 9 of device 'cuda:9' not found" in err


def test_a_stage_keeps_the_languages(checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("one", "two"):  # the second one out of the cache
        (tmp_path / name).mkdir()
        stage = LoadTranslator(model=str(checkpoint("nllb")), source="de", target="zh-TW", long="reject")
        assert stage.fit(tmp_path / name, StageContext(seed=1))["target"] == "zho_Hant"
        translator = Translator.load(tmp_path / name)
        assert (translator._codec.prefix, translator.long) == (("zho_Hant",), "reject")
    bundled = LoadTranslator(model="de-en", long="truncate")
    (tmp_path / "three").mkdir()
    bundled.fit(tmp_path / "three", StageContext(seed=1))
    assert Translator.load(tmp_path / "three").long == "truncate"
    with pytest.raises(ConfigError, match="unknown treatment"):
        LoadTranslator(model="de-en", long="cut")


def test_the_registry_is_whole() -> None:
    assert {name for names in MODEL_TYPES.values() for name in names} <= set(FAMILIES)
    assert all(get_family(name).name == name for name in FAMILIES)
    with pytest.raises(ModelError, match="unknown family of translators 'nlb'; did you mean 'nllb'"):
        get_family("nlb")
