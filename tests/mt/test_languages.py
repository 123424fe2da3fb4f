"""The table of languages, devices, and where long texts are split."""

from __future__ import annotations

import pytest

from paraloom.core.devices import Device, default_device, parse_device
from paraloom.core.errors import ConfigError
from paraloom.mt.languages import all_languages, find_language, language_of, model_code
from paraloom.mt.splitting import split_text


def test_every_code_means_its_language() -> None:
    for language in all_languages():
        assert find_language(language.flores) is language
        assert find_language(language.code) is language
        for code in (language.m2m100, language.mbart50, *language.also):
            assert not code or find_language(code) is language, code


def test_the_codes_of_each_family_are_in_the_table() -> None:
    pytest.importorskip("transformers")
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100
    from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

    for model, column, codes in (
        ("NLLB", "flores", NLLB),
        ("M2M", "m2m100", M2M100["m2m100"]),
        ("mB", "mbart50", MBART50),
    ):
        rows = {getattr(language, column): language for language in all_languages()}
        assert set(codes) <= set(rows)
        tokens = {code: f"<{code}>" for code in codes}
        for code in codes:
            for form in (code, rows[code].code, rows[code].flores):
                assert model_code(form, tokens, side="source", model=model) == f"<{code}>"


@pytest.mark.parametrize(
    ("text", "flores"),
    [
        ("DE", "deu_Latn"),
        ("pt_BR", "por_Latn"),
        ("no", "nob_Latn"),
        ("zh", "zho_Hans"),
        ("zh-Hant", "zho_Hant"),
        ("ara", "arb_Arab"),
        ("iw", "heb_Hebr"),
        ("sqi", "als_Latn"),
        ("ckb", "ckb_Arab"),
        ("Norwegian (Nynorsk)", "nno_Latn"),
    ],
)
def test_languages_by_other_codes(text: str, flores: str) -> None:
    language = find_language(text)
    assert language is not None and language.flores == flores


def test_another_script_is_another_language() -> None:
    assert find_language("sr-Latn") is None and find_language("xx") is None and find_language("") is None
    assert language_of("zho_Hant") == "zho_Hant"


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.core.devices.gpu_count", lambda: 0)
    assert parse_device("auto") == parse_device("cpu") == Device("cpu")
    with pytest.raises(ConfigError, match=r"GPU 0 of device 'cuda' not found: no GPU is available"):
        parse_device("cuda")
    monkeypatch.setattr("paraloom.core.devices.gpu_count", lambda: 2)
    assert parse_device("auto") == parse_device("cuda:0,1") == Device("cuda", (0, 1))
    assert [str(part) for part in parse_device("auto").parts()] == ["cuda", "cuda:1"]
    with pytest.raises(ConfigError, match="GPU 2, 3 of device 'cuda:1,2,3' not found: this machine has 2 GPUs"):
        parse_device("cuda:1,2,3")
    with pytest.raises(ConfigError, match="unknown device 'gpu'"):
        parse_device("gpu")
    monkeypatch.setenv("PARALOOM_DEVICE", "cuda:1")
    assert default_device() == "cuda:1"


def characters(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("One. Two.", 9, ["One. Two."]),
        ("One. Two.", 8, ["One.", "Two."]),
        ('He said: "No." Then he left.', 16, ['He said: "No."', "Then he left."]),
        ("First, second; third, fourth", 14, ["First, second;", "third, fourth"]),
        ("他来了。他看见了。", 5, ["他来了。", "他看见了。"]),
        ("他来了，他看见了，走了", 8, ["他来了，", "他看见了，走了"]),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefgh", 3, ["ab", "cd", "ef", "gh"]),
    ],
)
def test_long_texts_are_split_at_sentences_clauses_and_words(text: str, limit: int, parts: list[str]) -> None:
    assert split_text(text, limit, characters) == parts
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
