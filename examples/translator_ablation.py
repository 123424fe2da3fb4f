"""Train small German–English translators that differ in one setting each, and measure them on five kinds of text.

    PARALOOM_DATA=/path/to/corpora python examples/translator_ablation.py -o runs/translator-ablation \\
        --backtranslations runs/bundled-de-en

Each row of the table is the base recipe with one change: the text, the size or the training. Captions, news and
GNOME's help are kinds of text that the base does not train on. `--backtranslations` names a run of bundled-de-en.toml,
for the row with back-translated English. With 700 steps, about a pass over the text, a row takes four minutes on two
cores; a stopped run resumes. `--device cuda` trains on a GPU, `--rows N` only the first N.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from paraloom import Pipeline
from paraloom.core.stage import Stage
from paraloom.stages import EvaluateTranslator, Filter, JoinPairs, ReadPairs, Split, TrainTranslator

CLEAN = "src <> tgt and length(tgt) between 3 and 400 and length(src) between 0.4 * length(tgt) and 2.5 * length(tgt)"

BASE: dict[str, Any] = {
    "batch_tokens": 3500,
    "vocab_size": 10000,
    "subword_sampling": 0.0,
    "special_tokens": ["<BT>"],
    "development": "development",
}

BACK_TRANSLATED = ("captions", "headlines", "posts", "prose", "everyday")
"""Kinds of English text that bundled-de-en.toml back-translates."""

ROWS: dict[str, dict[str, Any]] = {
    "base: Tatoeba, LibreOffice help": {},
    "+ back-translated English of five kinds": {"bitext": ["tatoeba", "help", "back-translations"]},
    "384 wide, with 768 in between": {"d_model": 384, "heads": 6, "ffn_dim": 768},
    "subword sampling 0.2": {"subword_sampling": 0.2},
    "dropout 0.2": {"dropout": 0.2},
    "vocabulary of 16,000": {"vocab_size": 16000},
    "sentences up to 48 subwords": {"max_length": 48},
    "without LibreOffice help": {"bitext": ["tatoeba"]},
    "+ Europarl": {"bitext": ["tatoeba", "help", "europarl"]},
    "6 + 2 layers": {"encoder_layers": 6},
    "vocabulary of 5,000": {"vocab_size": 5000},
    "help read twice": {"weights": [1.0, 0.55]},
    "twice the steps": {"steps": 2.0},
}
"""What each row changes; its name. Steps are a multiple of the base's."""


def bitext(data: Path) -> list[Stage]:
    """The text: training, development and test parts of each source, and tests of other kinds."""
    sources: dict[str, tuple[str, dict[str, str], float]] = {
        "tatoeba": ("bitext/tatoeba/de-en.tsv.gz", {}, 0.007),
        "help": (
            "documents/libreoffice-help/gold.paragraphs.en-de.tsv.gz",
            {"src_column": "4", "tgt_column": "3"},
            0.007,
        ),
        "europarl": ("bitext/europarl-sample/de-en.tsv.gz", {}, 0.02),
    }
    stages: list[Stage] = []
    for name, (path, columns, share) in sources.items():
        stages += [
            ReadPairs(name=f"{name}-read", source=data / path, src_lang="de", tgt_lang="en", origin=name, **columns),  # type: ignore[arg-type]
            Filter(name=f"{name}-clean", input=f"{name}-read", where=CLEAN),
            Split(name=name, input=f"{name}-clean", part="train", share=2 * share),
            Split(name=f"{name}-held-out", input=f"{name}-clean", part="test", share=2 * share),
            Split(name=f"{name}-development", input=f"{name}-held-out", part="train", share=share),
            Split(name=f"{name}-test", input=f"{name}-held-out", part="test", share=share),
        ]
    captions = data / "bitext/multi30k/task1/test_2016_flickr.{de,en}.gz"
    news: dict[str, Any] = {"source": data / "bitext/wmt-news/de-en.tsv.gz", "src_lang": "de", "tgt_lang": "en"}
    gnome: dict[str, Any] = {"source": data / "bitext/gnome-help/de-en.tsv.gz", "src_lang": "de", "tgt_lang": "en"}
    return [
        *stages,
        JoinPairs(name="development", corpora=("tatoeba-development", "help-development")),
        ReadPairs(name="captions-test", source=captions, origin="captions"),
        ReadPairs(name="news-test", **news, origin="news", limit=1000),
        ReadPairs(name="gnome-test", **gnome, origin="gnome", limit=1000),
    ]


TESTS = ("captions", "news", "gnome", "tatoeba", "help")


def backtranslations(run: Path) -> list[Stage]:
    """The back-translated English of a run of bundled-de-en.toml, joined."""
    folders = [next(run.glob(f"*-{kind}-likely")) for kind in BACK_TRANSLATED]
    return [JoinPairs(name="back-translations", corpora=tuple(str(folder.absolute()) for folder in folders))]


def translators(rows: dict[str, dict[str, Any]], device: str, steps: int) -> list[Stage]:
    """A training and five evaluations for each row."""
    stages: list[Stage] = []
    for number, changes in enumerate(rows.values(), 1):
        settings: dict[str, Any] = {"bitext": ["tatoeba", "help"], **BASE, "device": device, **changes}
        settings["steps"] = round(steps * changes.get("steps", 1))
        settings["evaluate_every"] = steps // 2
        stages.append(TrainTranslator(name=f"translator-{number}", title=f"ablation {number}", **settings))
        stages += [
            EvaluateTranslator(name=f"{test}-{number}", translator=f"translator-{number}", pairs=f"{test}-test")
            for test in TESTS
        ]
    return stages


def main() -> None:
    """Run the pipeline and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/translator-ablation"), help="run folder")
    parser.add_argument("--backtranslations", type=Path, help="run folder of bundled-de-en.toml")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--steps", type=int, default=700, help="updates of each training")
    parser.add_argument("--rows", type=int, default=len(ROWS), help="only the first rows")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    rows = {
        name: changes
        for name, changes in list(ROWS.items())[: options.rows]
        if options.backtranslations or "back-translations" not in changes.get("bitext", [])
    }
    text = bitext(Path(options.data)) + (backtranslations(options.backtranslations) if options.backtranslations else [])
    stages = [*text, *translators(rows, options.device, options.steps)]
    result = Pipeline(stages, name="translator-ablation", seed=1).run(options.output)
    print(f"| BLEU (chrF) | {' | '.join(TESTS)} | parameters | passes |")
    print("| --- |" + " ---: |" * (len(TESTS) + 2))
    for number, name in enumerate(rows, 1):
        training = result.stage(f"translator-{number}").figures
        scores = [result.stage(f"{test}-{number}").figures for test in TESTS]
        cells = [f"{figures['bleu']:.1f} ({figures['chrf']:.1f})" for figures in scores]
        print(f"| {name} | {' | '.join(cells)} | {training['parameters'] / 1e6:.1f} M | {training['epochs']:.1f} |")


if __name__ == "__main__":
    main()
