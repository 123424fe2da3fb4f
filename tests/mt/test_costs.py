"""Costs of translations: quantiles against NumPy, histograms that add up, and warnings that come once."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from paraloom.bundled import bundled_path
from paraloom.core.errors import ModelError
from paraloom.core.protocols import Variant
from paraloom.mt import Translator
from paraloom.mt.costs import BIN_WIDTH, CostDistribution, CostMonitor, cost_warning, read_costs, write_costs
from paraloom.mt.streams import translate_stream

SENTENCES = [f"Das ist Satz {number}." for number in range(120)]


def variants(costs: np.ndarray) -> list[Variant]:
    return [Variant("x", -7.0 * cost, 7) for cost in costs]


def of(low: float, high: float, count: int = 100) -> CostDistribution:
    """Costs that are evenly spread."""
    return CostDistribution.of(variants(np.linspace(low, high, count)))


def test_quantiles_are_numpys_within_a_bin() -> None:
    costs = np.random.default_rng(1).gamma(2, 0.4, 3000)
    distribution = CostDistribution.of(variants(costs))
    assert distribution.sentences == 3000
    for share in (0.0, 0.05, 0.25, 0.5, 0.9, 0.99, 1.0):
        assert distribution.quantile(share) == pytest.approx(np.quantile(costs, share), abs=BIN_WIDTH)
    # Two costs by hand, in the bins from 0.5 and from 1: the median is where the first bin ends.
    assert CostDistribution.of(variants(np.array([0.52, 1.02]))).median == pytest.approx(0.55)
    assert np.isnan(CostDistribution().median)


def test_empty_translations_do_not_count_and_high_costs_share_a_bin() -> None:
    distribution = CostDistribution.of([Variant("", 0.0, 0), Variant("x", -50.0, 2)])
    assert distribution.sentences == 1 and distribution.counts[-1] == 1


def test_parts_add_up_to_the_whole() -> None:
    costs = variants(np.random.default_rng(2).gamma(2, 0.4, 500))
    parts = CostDistribution()
    for start in range(0, 500, 33):
        parts.add(costs[start : start + 33])
    assert np.array_equal(parts.counts, CostDistribution.of(costs).counts)


def test_costs_are_kept_in_a_folder(tmp_path: Path) -> None:
    assert read_costs(tmp_path) is None
    write_costs(tmp_path, of(0.1, 0.9), "a text")
    kept = read_costs(tmp_path)
    assert kept is not None and np.array_equal(kept.counts, of(0.1, 0.9).counts)


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"counts": [1]}', '{"counts": [-1], "bin_width": 0.05}', '{"counts": [1], "bin_width": 1}']
)
def test_damaged_costs_are_named(damage: str, tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(damage)
    with pytest.raises(ModelError, match=r"costs\.json: not a distribution of costs.*\n.*--save-costs"):
        read_costs(tmp_path)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (of(0.2, 1.0), ""),
        (of(0.8, 0.87), ""),  # the median is 0.835; the 80th percentile of the development text is 0.84
        (of(0.82, 0.92), r"median cost 0\.8\d nats per token over 100 sentences, 0.60 on .* expect wrong"),
        (of(0.0, 0.1), "near 0 everywhere"),
        (of(2.0, 3.0, count=49), ""),  # too few
    ],
)
def test_costs_are_compared_with_those_of_the_development_text(costs: CostDistribution, message: str) -> None:
    warning = cost_warning(costs, of(0.2, 1.0))
    assert bool(warning) == bool(message)
    if message:
        with pytest.warns(UserWarning, match=message):
            warnings.warn(warning, stacklevel=1)


def test_a_monitor_warns_once() -> None:
    monitor = CostMonitor(of(0.2, 1.0))
    groups = [[variant, Variant("another", -1.0, 100)] for variant in variants(np.linspace(2, 3, 30))]
    with pytest.warns(UserWarning, match=r"median cost 2\.5\d .* over 30 sentences"):
        monitor.add(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor.add(groups)
        CostMonitor(of(0.2, 1.0)).add([[variant] for variant in variants(np.linspace(0.2, 1, 500))])


def add(monitor: CostMonitor, *costs: float) -> None:
    """A call with sentences of these costs."""
    monitor.add([[variant] for variant in variants(np.array(costs))])


def test_a_small_call_is_compared_by_itself() -> None:
    monitor = CostMonitor(of(0.2, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(100):
            add(monitor, *np.linspace(0.3, 0.9, 12))
        # By hand: 7 of 10 above the 80th percentile have a probability of .00086 among sentences that it knows.
        add(CostMonitor(of(0.2, 1.0)), *[0.5] * 3, *[2.0] * 7)
        add(CostMonitor(of(0.2, 1.0)), *[2.0] * 9)  # too few
    # 12 of 12 above it: .2^12 = 4.1e-9, less than .001 / (101 · 102).
    with pytest.warns(UserWarning, match="over 12 sentences.*expect wrong"):
        add(monitor, *[2.0] * 12)
    with pytest.warns(UserWarning, match="over 10 sentences.*expect wrong"):
        add(CostMonitor(of(0.2, 1.0)), *[0.5] * 2, *[2.0] * 8)  # .000078, less than .001 / 2
    with pytest.warns(UserWarning, match="over 12 sentences.*near 0 everywhere"):
        add(CostMonitor(of(0.2, 1.0)), *[0.01] * 12)


def test_tiny_calls_are_compared_fifty_sentences_at_a_time() -> None:
    monitor = CostMonitor(of(0.2, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cost in (*np.tile(np.linspace(0.3, 0.9, 50), 10), *[2.0] * 49):
            add(monitor, cost)
    with pytest.warns(UserWarning, match="over 50 sentences.*expect wrong"):
        add(monitor, 2.0)


def test_false_alarms_are_rare_however_many_calls() -> None:
    random = np.random.default_rng(1)
    known = CostDistribution.of(variants(random.gamma(4, 0.2, 2000)))
    alarms = 0
    for _ in range(50):
        monitor = CostMonitor(known)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(100):
                add(monitor, *random.gamma(4, 0.2, 10))
        alarms += monitor.warned
    assert alarms == 0


def test_everyday_sentences_do_not_hide_a_later_text_of_another_kind() -> None:
    monitor = CostMonitor(of(0.2, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor.add([[variant] for variant in variants(np.linspace(0.2, 1, 2000))])
    with pytest.warns(UserWarning, match=r"median cost 2\.5\d .* over 60 sentences"):
        monitor.add([[variant] for variant in variants(np.linspace(2, 3, 60))])


@pytest.fixture
def confident(tmp_path: Path) -> Path:
    """The bundled translator with a development text that cost nothing, so that every text costs too much."""
    bundled = bundled_path("de-en")
    assert bundled is not None
    for file in bundled.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "costs.json").unlink(missing_ok=True)
    write_costs(tmp_path, of(0.0, 0.001), "a text that cost nothing")
    return tmp_path


@pytest.mark.parametrize(
    "decode", ["beam:2,nbest=2", "sampling", pytest.param("nucleus:0.9,nbest=2", marks=pytest.mark.slow)]
)
def test_a_translator_warns_once(confident: Path, decode: str) -> None:
    translator = Translator.load(confident, decode=decode)
    quiet = Translator.load(confident, decode=decode, check_costs=False)
    with pytest.warns(UserWarning, match="over 120 sentences.*expect wrong translations"):
        translations = translator.translate(SENTENCES, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quiet.translate(SENTENCES, seed=3) == translations
        translator.translate(SENTENCES)
        translator.with_decoding("greedy").translate(SENTENCES)


def test_small_sampled_calls_do_not_hide_a_later_text() -> None:
    monitor = CostMonitor(of(0.2, 1.0))
    for call in range(22):
        assert monitor.sample_size(10) == (10 if call < 20 else 0)
        add(monitor, *np.linspace(0.3, 0.9, 10))
    assert monitor.sample_size(60) == 200
    with pytest.warns(UserWarning, match="over 60 sentences"):
        add(monitor, *np.linspace(2, 3, 60))
    assert monitor.sample_size(60) == 0


def test_a_sampled_stream_is_compared_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator.load("de-en", decode="sampling")
    lengths: list[int] = []
    monkeypatch.setattr(Translator, "observe", lambda _, decoding, texts, variants: lengths.append(len(texts)))
    monkeypatch.setattr("paraloom.mt.streams._BETWEEN_SAMPLES", 150)
    monkeypatch.setattr(Translator, "translate", lambda *_, **__: [])
    list(translate_stream(translator, [SENTENCES[:60], SENTENCES[:70], SENTENCES[:80], SENTENCES[:9]], threads=1))
    assert lengths == [60, 80, 9]


@pytest.mark.parametrize("decode", ["beam:2", "sampling"])
@pytest.mark.slow
def test_a_stream_warns_once_at_any_number_of_threads(confident: Path, decode: str) -> None:
    chunks = [SENTENCES[start : start + 20] for start in range(0, 120, 20)]
    messages = []
    for threads in (1, 3):
        with pytest.warns(UserWarning, match="expect wrong") as caught:
            list(translate_stream(Translator.load(confident, decode=decode), chunks, threads=threads))
        messages.append([str(warning.message) for warning in caught if "expect" in str(warning.message)])
    assert messages[0] == messages[1] and len(messages[0]) == 1


def test_the_bundled_translator_has_costs() -> None:
    costs = Translator.load("de-en").costs
    assert costs is not None and costs.sentences >= 1000
