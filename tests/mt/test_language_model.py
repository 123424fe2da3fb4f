"""Language models on CTranslate2: tiny random checkpoints, beside transformers' own generate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tiny_language_models import WORDS, greedy, make_checkpoint

import paraloom
from paraloom import ConfigError, ModelError
from paraloom.api.endpoints import named_translator
from paraloom.mt.language_model import (
    LanguageModelConfig,
    LanguageModelTranslator,
    convert_language_model,
    is_language_model,
    load_language_model,
)
from paraloom.mt.loading import open_translator

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PROMPT = {"prompt": "{text}", "answer_tokens": 12, "max_ratio": 0.0}
KINDS = [
    "Llama",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("Mistral", "Gemma2", "Gemma3", "Qwen2", "Qwen3")),
]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_decoding_is_that_of_transformers(kind: str, cache: Path, tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", kind)
    assert is_language_model(folder)
    model = load_language_model(folder, precision="float32", **PROMPT)
    texts = ["ba de fi", "go ku la me ni", "po"]
    # An answer that is not finished after 12 tokens is cut, and rejected: those of transformers are compared uncut.
    raw = model._guarded(
        "generate_batch",
        [model.prompt_tokens(text) for text in texts],
        max_length=12,
        end_token=model._ends,
        include_prompt_in_result=False,
        sampling_topk=1,
    )
    written = [model._tokenizer.decode(result.sequences_ids[0], skip_special_tokens=True).strip() for result in raw]
    assert written == [greedy(folder, f"<s> {text} </s> ", 12) for text in texts]
    assert model.prompt_tokens("ba de") == ["<s>", "ba", "de", "</s>"]
    assert model._ends == ["<end>", "</s>"]


def test_scores_are_those_of_transformers(cache: Path, tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", "Llama")
    model = load_language_model(folder, precision="float32", **PROMPT)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.tensor([[1, WORDS.index("ba"), 2, WORDS.index("de"), WORDS.index("fi"), 3]])
    logprobs = network(ids).logits.log_softmax(-1)[0]
    expected = sum(float(logprobs[at, ids[0, at + 1]]) for at in (2, 3, 4))
    ((logprob, tokens),) = model.score(["ba"], ["de fi"])
    assert tokens == 3
    assert logprob == pytest.approx(expected, abs=1e-4)
    # The log-probability of a generated answer is that of scoring it.
    sampled = load_language_model(folder, "sampling,nbest=64", precision="float32", **(PROMPT | {"answer_tokens": 99}))
    variants = [variant for variant in sampled.translate(["ba"], seed=1)[0] if not variant.reason]
    # A random model also writes special tokens, which the text lacks; without them a token is a word, or the end.
    whole = [variant for variant in variants if variant.tokens == len(variant.text.split()) + 1]
    assert whole
    for variant, (again, count) in zip(
        whole, model.score(["ba"] * len(whole), [one.text for one in whole]), strict=True
    ):
        assert variant.tokens == count
        # Either token may have ended the sample; the score is that of <end>.
        assert variant.logprob <= 0 and again <= 0


def test_sampling_repeats_with_its_seed(cache: Path, tmp_path: Path) -> None:
    model = load_language_model(
        make_checkpoint(tmp_path / "model", "Llama"), "sampling,nbest=2", **(PROMPT | {"answer_tokens": 60})
    )
    texts = ["ba de fi", "", "po"]
    first = model.translate(texts, seed=4)
    assert model.translate(texts, seed=4) == first != model.translate(texts, seed=5)
    assert first[1] == [paraloom.Variant("", 0.0, 0)]


def test_an_answer_that_is_cut_is_rejected(cache: Path, tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", "Llama")
    model = load_language_model(folder, attempts=1, precision="float32", **(PROMPT | {"answer_tokens": 1}))
    # Texts that the random model does not answer with an end at once.
    texts = [text for text in WORDS[4:24] if greedy(folder, f"<s> {text} </s> ", 1) not in ("", "<end>")]
    assert texts
    reasons = [[variant.reason for variant in variants] for variants in model.translate(texts)]
    assert reasons == [["the answer was cut off at its maximum length"]] * len(texts)


def test_a_plain_prompt_without_a_template(cache: Path, tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", "Llama", chat=False)
    model = load_language_model(folder, source="de", target="en")
    assert not model.chat
    assert len(model.prompt_tokens("ba")) == 3  # German: ba English:
    assert "language-model|model:" in model.signature
    assert (model.source, model.target) == ("de", "en")


def test_a_converted_folder_is_a_translator(tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", "Llama")
    convert_language_model(folder, tmp_path / "converted", config=LanguageModelConfig(source="de", target="en"))
    model = open_translator(tmp_path / "converted", "greedy")
    assert isinstance(model, LanguageModelTranslator)
    assert model.config.source == "de"
    assert isinstance(model, paraloom.core.protocols.ScoringTranslatorLike)


@pytest.mark.slow
def test_a_folder_on_the_command_line(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = make_checkpoint(tmp_path / "model", "Llama")
    model = named_translator(f"{folder}?prompt={{text}}&answer_tokens=60&max-ratio=0&attempts=1")
    pairs = paraloom.as_pairs([("ba de fi", "x"), ("po", "y")])
    result = pairs.backtranslate(model, decode="sampling", check_languages=False).write(tmp_path / "p.tsv", workers=1)
    counts = result.stages[-1].counts
    assert counts.read == 2 == counts.kept + counts.rejected
    with pytest.raises(ConfigError, match=r"the language model '.*' has no setting 'max-tokens'"):
        named_translator(f"{folder}?max-tokens=3")


def test_what_cannot_be_converted(tmp_path: Path) -> None:
    folder = make_checkpoint(tmp_path / "model", "Llama")
    with pytest.raises(ConfigError, match="precision"):
        convert_language_model(folder, tmp_path / "x", precision="int9")
    (folder / "tokenizer.json").rename(folder / "t.json")
    with pytest.raises(ModelError, match=r"tokenizer\.json not found"):
        convert_language_model(folder, tmp_path / "x")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        convert_language_model(folder, tmp_path / "x")
    (folder / "config.json").write_text('{"model_type": "lama"}')
    with pytest.raises(ModelError, match="did you mean 'llama'"):
        convert_language_model(folder, tmp_path / "x")
    shutil.rmtree(folder)
    with pytest.raises(ModelError, match=r"config\.json not found"):
        load_language_model(folder, source="de", target="en")
    with pytest.raises(ModelError, match="not a converted language model"):
        LanguageModelTranslator(tmp_path)
