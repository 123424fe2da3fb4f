"""BLEU and chrF beside sacreBLEU itself, with its tokenizers, and text without spaces between words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from paraloom.api.evaluate import evaluate_translation_files
from paraloom.core.errors import ConfigError
from paraloom.evaluate.translation import evaluate_translation

CHINESE = ["今天天气很好。我们去公园吧。", "他昨天没有来学校。"]
CHINESE_REFERENCES = ["今天天气很好,我们去公园。", "他昨天没来学校。"]


def test_chrf_has_an_interval_where_samples_without_a_match_are_drawn() -> None:
    hypotheses, references = ["a cat", "foo bar", ""], ["a cat sat on the mat", "baz", "q"]
    result = evaluate_translation(hypotheses, references)
    metric = sacrebleu.CHRF()
    statistics = np.array(metric._extract_corpus_statistics(hypotheses, [references]))
    drawn = np.random.default_rng(12345).choice(3, (1000, 3), replace=True)
    scores = sorted(
        float(metric._compute_score_from_stats(statistics[rows].sum(axis=0).tolist()).score) for rows in drawn
    )
    assert result.chrf.interval == pytest.approx((scores[974] - scores[25]) / 2, abs=1e-3)
    assert result.chrf.signature.startswith("nrefs:1|bs:1000|")


@pytest.mark.parametrize("tokenize", ["zh", "char", "none"])
def test_tokenizers_are_sacrebleus(tokenize: str, tmp_path: Path) -> None:
    for name, lines in (("hypotheses", CHINESE), ("references", CHINESE_REFERENCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate_translation_files(tmp_path / "hypotheses", tmp_path / "references", tokenize=tokenize)
    expected = sacrebleu.corpus_bleu(CHINESE, [CHINESE_REFERENCES], tokenize=tokenize).score
    assert result.bleu.score == pytest.approx(expected) and f"|tok:{tokenize}|" in result.bleu.signature


def test_an_unknown_tokenizer_is_named_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="unknown tokenizer 'chars'; did you mean 'char'"):
        evaluate_translation(CHINESE, CHINESE_REFERENCES, tokenize="chars")


def test_bleu_of_text_without_spaces_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="the references have no spaces between words: BLEU with tok:13a"):
        evaluate_translation(CHINESE, CHINESE_REFERENCES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_translation(["그는 오늘 아침 일찍 일어났다."], ["그는 오늘 아침에 일찍 일어났다."])
