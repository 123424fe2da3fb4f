"""The report's part about back-translation, on run.json of a made-up run: what is drawn, named, averaged, left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paraloom.report.augmented import frontier, gains, perplexities
from paraloom.report.charts import Curve, curves
from paraloom.report.page import write_report
from paraloom.report.plots import Bar, Point, group_bars, scatter
from paraloom.report.run_folder import StageView, open_run

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
    for place, name in enumerate(METHODS):
        for seed in (1, 2):
            folder = stage(f"final-{name}-{seed}", "train-translator", {})
            stages.append(folder)
            artifact = root / folder["folder"] / "artifact"
            artifact.mkdir(parents=True)
            points = [
                {"step": s, "loss": 3.0, "train_perplexity": 4 + place + 900 / s * (seed + 1)}
                for s in range(50, 2001, 50)
            ]
            (artifact / "curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
        stages.append(stage(f"test-wmt18-{name}-1", "evaluate-translator", scores(20 + place, 21 + place / 2, 22)))
        stages.append(stage(f"test-wmt18-{name}-2", "evaluate-translator", scores(21 + place, 22 + place / 2, 22)))
    stages.append(stage("test-wmt18-none-1", "evaluate-translator", scores(20, 21, 22.5)))
    told = {"name": "augment", "seed": 1, "versions": {}, "stages": stages, "pipeline": ""}
    (root / "run.json").write_text(json.dumps(told))
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("augment"))


def views(root: Path) -> tuple[StageView, ...]:
    return open_run(root).stages


def test_the_page_has_all_three_charts(root: Path) -> None:
    page = write_report(root, root / "page.html").read_text(encoding="utf-8")
    assert 'href="#augmented"' in page
    for title in (
        "Diversity and adequacy of variants",
        "Training perplexity of the final translators",
        "Gain in BLEU on wmt18",
    ):
        assert f"<title>{title}</title>" in page
        assert re.search(rf'aria-label="{title}\. [^"]+"', page)


def test_the_frontier_places_each_corpus_and_names_those_without_a_place(root: Path) -> None:
    found = frontier(views(root))
    assert found is not None
    assert "nucleus: i-BLEU 88.9 ±0.8, chrF to the reference 39.5 ±0.4" in found
    assert found.count("<circle") == 6 and "Without a figure to place them by: base" in found
    assert "diversity-" not in found
    # To the right is more diverse, upwards more adequate.
    places = {
        name: (float(x), float(y))
        for x, y, name in re.findall(r'cx="([\d.]+)" cy="([\d.]+)".*?>([\w-]+)</text>', found)
    }
    assert places["beam"][0] < places["nucleus"][0] < places["sampling"][0]
    assert places["beam"][1] < places["nucleus"][1] < places["sampling"][1]


def test_without_references_the_cost_places_them() -> None:
    stages = [
        StageView(name, name, "measure-diversity", "fit", figures={"ibleu": x, "cost": cost})
        for name, x, cost in (("a", 10.0, 0.5), ("b", 80.0, 1.5))
    ]
    found = frontier(stages)
    assert found is not None and "b: i-BLEU 80, −cost, nats a token −1.5" in found
    assert frontier(stages[:1]) is None
    nothing = [StageView(name, name, "measure-diversity", "fit", figures={"ibleu": None}) for name in "ab"]
    assert frontier(nothing) is None


def test_two_with_references_are_placed_by_them_and_the_third_is_named() -> None:
    stages = [
        StageView(name, name, "measure-diversity", "fit", figures={"ibleu": 40.0, "cost": 1.0, "chrf": chrf})
        for name, chrf in (("a", 30.0), ("b", 20.0), ("c", None))
    ]
    found = frontier(stages)
    assert found is not None and found.count("<circle") == 2 and "b: i-BLEU 40, chrF to the reference 20" in found
    assert "Without a figure to place them by: c" in found


def test_perplexities_are_means_over_seeds_of_common_steps() -> None:
    found = perplexities(
        {
            "final-base-big-1": [{"step": 1, "train_perplexity": 100}, {"step": 2, "train_perplexity": 20}],
            "final-base-big-2": [{"step": 1, "train_perplexity": 300}, {"step": 2, "train_perplexity": 30}],
            "final-base": [{"step": 1, "train_perplexity": 50}, {"step": 2, "train_perplexity": 5}, {"step": 3}],
            "final-syntax": [],
        }
    )
    assert found is not None
    assert "Curves over step: base-big from 200 to 25; base from 50 to 5." in found
    assert "syntax" not in found
    assert perplexities({"final-a": [{"step": 1, "loss": 3}]}) is None and perplexities({}) is None


def test_gains_are_in_per_cent_of_parallel_data_alone(root: Path) -> None:
    found = gains(views(root))
    assert found is not None
    # base: BLEU 20 and 21 against 20; of eng-isl 21 and 22 against 21; of isl-eng 22 against 22.5.
    assert "all of the test: base +2.5, " in found
    assert "; eng-isl: base +2.38, " in found and "; isl-eng: base −2.22, " in found
    assert "base: +2.5, 0 to +5" in found and "eng-isl/news" not in found
    row = re.search(r'<th scope="row">parallel data alone</th>(.*?)</tr>', found)
    assert row is not None
    assert re.findall(r'<td class="n">([^<]+)</td>', row[1]) == ["1", "20.0", "21.0", "22.5", "50.0"]


def test_a_test_without_parallel_data_alone_is_left_out() -> None:
    def of(name: str, bleu: float) -> StageView:
        return StageView(name, name, "evaluate-translator", "fit", figures={"bleu": bleu, "chrf": 1.0})

    assert gains([of("test-a-base-1", 3), of("test-b-none-1", 3), of("test-c-nuclear-1", 3)]) is None
    found = gains([of("test-a-b-base-big-1", 3), of("test-a-b-none-1", 2), of("test-a-b-base-1", 0)])
    assert found is not None and "<h4>a-b</h4>" in found
    assert "base −100, base-big +50" in found
    nought = gains([of("test-a-base-1", 3), of("test-a-none-1", 0)])
    assert nought is not None and "<svg" not in nought


def test_names_of_points_do_not_cover_each_other() -> None:
    points = [Point(f"corpus-{i}", 50 + i * 0.1, 40 + i * 0.1) for i in range(4)] + [Point("far", 10, 10)]
    found = scatter("Some", points, "x", "y")
    boxes = []
    for x, y, anchor, name in re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([\w-]+)</text></g>', found
    ):
        left = float(x) - {"start": 0, "end": 6.8, "middle": 3.4}[anchor] * len(name)
        boxes.append((left, float(y) - 11, left + 6.8 * len(name), float(y) + 3))
    assert len(boxes) == 5
    for place, a in enumerate(boxes):
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[place + 1 :])


@pytest.mark.parametrize("values", [(0.0, 0.0), (5.0, 5.0), (-5.0, -3.0)])
def test_bars_of_any_sign_stay_in_the_picture(values: tuple[float, float]) -> None:
    found = group_bars("Some", [("g", [Bar("m", value, value, value) for value in values])], "%")
    for x, width in re.findall(r'<rect class="after" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', found):
        assert 150 <= float(x) <= float(x) + float(width) <= 571


def test_many_curves_have_their_labels_within_the_picture_and_lines_of_their_own() -> None:
    lines = [Curve(f"m{i}", [(0, 100.0), (10, 5.0 + i / 100)]) for i in range(9)]
    found = curves("Perplexity", lines, "step", logarithmic=True)
    ends = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">m\d', found)]
    assert len(set(ends)) == 9 and max(ends) <= 240 - 24 + 4 and min(ends) > 0
    assert len(set(re.findall(r'class="(line line-\d[^"]*)"', found))) == 9
    marks = re.findall(r'text-anchor="end">([\d.]+)</text>', found)
    assert {"5", "10", "20", "50", "100"} <= set(marks)


def test_a_run_without_back_translation_has_no_such_part(tmp_path: Path) -> None:
    told = {"name": "x", "stages": [stage("a", "train-encoder", {})], "pipeline": ""}
    (tmp_path / "run.json").write_text(json.dumps(told))
    assert (
        "augmented"
        not in write_report(tmp_path, tmp_path / "p.html").read_text(encoding="utf-8").partition("</style>")[2]
    )
