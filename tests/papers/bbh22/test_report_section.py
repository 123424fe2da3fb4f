"""The report's back-translation section, on a hand-made run: perplexity curves, gains, labels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paraloom.papers.bbh22.report_section import Bar, gains, group_bars, perplexities
from paraloom.web.charts import Curve, curves
from paraloom.web.report import write_report
from paraloom.web.run_folder import StageView, open_run

METHODS = {
    "base": (None, 0.41, 52.1), "beam": (22.8, 0.42, 51.0), "syntax": (77.2, 0.63, 46.2), "nucleus": (88.9, 1.32, 39.5),
    "sampling": (92.3, 1.95, 35.1), "topk": (87.9, 1.21, 40.2), "temperature": (81.0, 0.9, 43.9),
}  # fmt: skip


def stage(name: str, use: str, figures: dict[str, Any]) -> dict[str, Any]:
    return {"folder": name, "name": name, "use": use, "kind": "fit", "seconds": 1.0, "digest": "0" * 64,
            "configuration": {}, "figures": figures, "state": "done"}  # fmt: skip


def scores(bleu: float, eng: float, isl: float) -> dict[str, Any]:
    groups = [
        {"group": "eng-isl", "bleu": eng},
        {"group": "eng-isl/news", "bleu": 0.1},
        {"group": "isl-eng", "bleu": isl},
    ]
    return {"n": 9, "bleu": bleu, "chrf": 50.0, "groups": groups}


def make_run(root: Path) -> Path:
    stages = []
    for name, (ibleu, cost, chrf) in METHODS.items():
        figures = {"ibleu": ibleu, "ibleu_interval": 0.8, "cost": cost, "cost_interval": 0.05}
        stages.append(stage(f"diversity-{name}", "measure-diversity", figures | {"chrf": chrf, "chrf_interval": 0.4}))
    for i, name in enumerate(METHODS):
        for seed in (1, 2):
            folder = stage(f"final-{name}-{seed}", "train-translator", {})
            stages.append(folder)
            artifact = root / folder["folder"] / "artifact"
            artifact.mkdir(parents=True)
            points = [
                {"step": s, "loss": 3.0, "train_perplexity": 4 + i + 900 / s * (seed + 1)} for s in range(50, 2001, 50)
            ]
            (artifact / "curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
        stages.append(stage(f"test-wmt18-{name}-1", "evaluate-translator", scores(20 + i, 21 + i / 2, 22)))
        stages.append(stage(f"test-wmt18-{name}-2", "evaluate-translator", scores(21 + i, 22 + i / 2, 22)))
    stages.append(stage("test-wmt18-none-1", "evaluate-translator", scores(20, 21, 22.5)))
    record = {"name": "augment", "seed": 1, "versions": {}, "stages": stages, "pipeline": ""}
    (root / "run.json").write_text(json.dumps(record))
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("augment"))


def views(root: Path) -> tuple[StageView, ...]:
    return open_run(root).stages


def test_page_has_both_charts(root: Path) -> None:
    page = write_report(root, root / "page.html").read_text(encoding="utf-8")
    assert 'id="augmented"' in page
    for title in (
        "Training perplexity of the final translators",
        "Gain in BLEU on wmt18",
    ):
        assert f"<title>{title}</title>" in page
        assert re.search(rf'aria-label="{title}\. [^"]+"', page)


def test_perplexities_are_means_over_seeds_of_common_steps() -> None:
    section = perplexities(
        {
            "final-base-big-1": [{"step": 1, "train_perplexity": 100}, {"step": 2, "train_perplexity": 20}],
            "final-base-big-2": [{"step": 1, "train_perplexity": 300}, {"step": 2, "train_perplexity": 30}],
            "final-base": [{"step": 1, "train_perplexity": 50}, {"step": 2, "train_perplexity": 5}, {"step": 3}],
            "final-syntax": [],
        }
    )
    assert section is not None
    assert "Curves over step: base-big from 200 to 25; base from 50 to 5." in section
    assert "syntax" not in section
    assert perplexities({"final-a": [{"step": 1, "loss": 3}]}) is None and perplexities({}) is None


def test_gains_are_relative_to_parallel_data_only(root: Path) -> None:
    section = gains(views(root))
    assert section is not None
    # base: BLEU 20 and 21 against 20; of eng-isl 21 and 22 against 21; of isl-eng 22 against 22.5.
    assert "whole test set: base +2.5, " in section
    assert "; eng-isl: base +2.38, " in section and "; isl-eng: base −2.22, " in section
    assert "base: +2.5, 0 to +5" in section and "eng-isl/news" not in section
    row = re.search(r'<th scope="row">parallel data only</th>(.*?)</tr>', section)
    assert row is not None
    assert re.findall(r'<td class="n">([^<]+)</td>', row[1]) == ["1", "20.0", "21.0", "22.5", "50.0"]


def test_test_sets_without_the_baseline_are_left_out() -> None:
    def of(name: str, bleu: float) -> StageView:
        return StageView(name, name, "evaluate-translator", "fit", figures={"bleu": bleu, "chrf": 1.0})

    assert gains([of("test-a-base-1", 3), of("test-b-none-1", 3), of("test-c-nuclear-1", 3)]) is None
    section = gains([of("test-a-b-base-big-1", 3), of("test-a-b-none-1", 2), of("test-a-b-base-1", 0)])
    assert section is not None and "<h4>a-b</h4>" in section
    assert "base −100, base-big +50" in section
    without_baseline = gains([of("test-a-base-1", 3), of("test-a-none-1", 0)])
    assert without_baseline is not None and "<svg" not in without_baseline


@pytest.mark.parametrize("values", [(0.0, 0.0), (5.0, 5.0), (-5.0, -3.0)])
def test_bars_of_any_sign_stay_inside_the_chart(values: tuple[float, float]) -> None:
    chart = group_bars("Some", [("g", [Bar("m", value, value, value) for value in values])], "%")
    for x, width in re.findall(r'<rect class="after" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart):
        assert 150 <= float(x) <= float(x) + float(width) <= 571


def test_many_curves_have_separate_labels_and_line_styles() -> None:
    lines = [Curve(f"m{i}", [(0, 100.0), (10, 5.0 + i / 100)]) for i in range(9)]
    chart = curves("Perplexity", lines, "step", logarithmic=True)
    ends = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">m\d', chart)]
    assert len(set(ends)) == 9 and max(ends) <= 240 - 24 + 4 and min(ends) > 0
    assert len(set(re.findall(r'class="(line line-\d[^"]*)"', chart))) == 9
    marks = re.findall(r'text-anchor="end">([\d.]+)</text>', chart)
    assert {"5", "10", "20", "50", "100"} <= set(marks)


def test_runs_without_back_translation_have_no_such_section(tmp_path: Path) -> None:
    record = {"name": "x", "stages": [stage("a", "train-encoder", {})], "pipeline": ""}
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert (
        "augmented"
        not in write_report(tmp_path, tmp_path / "p.html").read_text(encoding="utf-8").partition("</style>")[2]
    )
