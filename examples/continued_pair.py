"""Continue the training of the bundled translators, on more text and better translations: two hours of a core.

    PARALOOM_DATA=/path/to/corpora python examples/continued_pair.py runs/continued
    python benchmarks/continued_pair.py runs/continued --models en-de de-en

Start: the weights of bundled-de-en.toml and bundled-en-de.toml, as they are bundled or in the folders of `--start`.
`data` reads the bitext of larger-pair.toml that is free to distribute (without the Bible, a century old) and English
of several kinds. The teachers continue on captions, news, software and stories as well, which may not be distributed,
and translate. `backtranslations` are their German of the English. `choices` are better ones, which
`beam:16,utility=reverse+chrf` chooses, of the sentences that are not beyond the teachers, of every kind up to a limit.
`en-de` and `de-en` learn from the bitext and from translations with a low dual cross-entropy (Junczys-Dowmunt 2018);
sources of `de-en` that a beam wrote have a tag. What they are in the end is the average with what they were, which
costs fewer everyday sentences. Each step resumes where it was stopped. `--ablation 16` trains `de-en` on each row
of ABLATION, with a 16th of the updates and of the English, a 64th of the bitext, and the bundled pair as the teachers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from larger_pair import TAG, append_translations, dual_costs, read_rows, write_rows
from safetensors.torch import load_file, save_file

from paraloom import Pipeline
from paraloom.bundled import KINDS_OF_TEXT, SAMPLE, bundled_path
from paraloom.core.batches import batched
from paraloom.mt import Translator
from paraloom.mt.checkpoint import CHECKPOINT, convert
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.costs import COST_DECODING, CostDistribution, write_costs
from paraloom.mt.engine_weights import with_checkpoint
from paraloom.mt.streams import best_variants
from paraloom.mt.training import LOG, train_translator
from paraloom.stages import Clean, Filter, ReadPairs, ReadSentences, Split

WEIGHTS = "model.safetensors"
CHOICE = "beam:16,utility=reverse+chrf"
# Dual costs, at most: of sentences to choose for, of back-translations to learn from, of choices to learn from.
POSSIBLE, LIKELY, SURE = 3.0, 2.0, 1.5
STUTTER = re.compile(r"(\w)\1{3}|(\w{2,3})\2{2}")

HANDBOOKS = (
    *("rust-book", "debian-handbook", "privacyguides", "opensource-guide", "django-girls", "tldr", "twelve-factor"),
    *("command-line", "asvs"),
)  # which the bundled translators did not learn from
HELD_OUT = {"tatoeba": 0.007, "help": 0.007, "gnome-help": 0.05}  # as bundled-de-en.toml holds out; of the others .02
PAIRS: dict[str, tuple[str, dict[str, Any], float]] = {  # a file, keys of read-pairs, how often it is read
    "tatoeba": ("bitext/tatoeba/de-en.tsv.gz", {}, 0.5),
    "help": ("documents/libreoffice-help/gold.paragraphs.en-de.tsv.gz", {"src_column": 4, "tgt_column": 3}, 1),
    "gnome-help": ("bitext/gnome-help/de-en.tsv.gz", {}, 2),
    "europarl": ("bitext/europarl-sample/de-en.tsv.gz", {}, 1),
    **{name: (f"bitext/{name}/de-en.tsv.gz", {}, 2) for name in HANDBOOKS},
}
WIDE: dict[str, tuple[str, dict[str, Any]]] = {  # tests of kinds without bitext in the training, and text to choose by
    "captions-test": ("bitext/multi30k/task1/test_2016_flickr.{de,en}.gz", {}),
    "software-test": ("bitext/yast/de-en.tsv.gz", {"limit": 2000}),
    "news-test": ("bitext/wmt-news/de-en.tsv.gz", {"limit": 3003}),
    "captions-development": ("bitext/multi30k/task1/val.{de,en}.gz", {"limit": 300}),
    "software-development": ("bitext/yast/de-en.tsv.gz", {"skip": 2000, "limit": 300}),
    "news-development": ("bitext/wmt-news/de-en.tsv.gz", {"skip": 11175, "limit": 200}),
}
FOR_TEACHERS: dict[str, tuple[str, dict[str, Any], float]] = {  # which may not be distributed
    "multi30k": ("bitext/multi30k/task1/train.{de,en}.gz", {}, 2),
    "wmt-news": ("bitext/wmt-news/de-en.tsv.gz", {"skip": 3003, "limit": 8172}, 2),
    "yast": ("bitext/yast/de-en.tsv.gz", {"skip": 2300}, 1),
    "shattered-pixel-dungeon": ("bitext/shattered-pixel-dungeon/de-en.tsv.gz", {}, 1),
}
LISTS = "sentences-en/{}.txt.xz"  # of a name without a folder
ENGLISH: dict[str, tuple[list[str], int, int, int]] = {  # files, field, sentences, those to choose for at most
    "captions": (["paraphrase/coco-captions-val/captions.tsv.gz"], 2, 40_000, 4000),
    "posts": (["forum.reddit-posts"], 0, 12_000, 800),
    "news": (["paraphrase/onestopenglish/pairs.tsv.gz"], 2, 3300, 500),
    "questions": (["questions.opentrivia", "questions.reddit-titles"], 0, 8000, 600),
    "prose": (["mixed.masc"], 0, 8000, 600),
    "definitions": (["glosses.open-english-wordnet", "examples.wordset"], 0, 5000, 400),
}
TEACHER_STEPS = 900
# What is learned from besides the bitext; `own` are translations of English by the pair itself, without a teacher.
ABLATION = {"bitext": [], "own": ["own"], "beam": ["backtranslations"], "both": ["backtranslations", "choices"]}
REPEATED = 3  # how often choices are read
# Of 0.4 to 1, the largest with which everyday sentences lose less than .2 chrF on development text.
NEW = {"de-en": 0.6, "en-de": 0.5}
SETTINGS: dict[str, Any] = {
    **{"batch_tokens": 3000, "subword_sampling": 0.0, "patience": 0, "keep_last": True},
    **{"threads": 1, "evaluate_every": 150},
}


def prepare(folder: Path) -> None:
    """Read, clean and split all text."""
    root, stages = Path(os.environ["PARALOOM_DATA"]), list[Any]()
    for name, file in (("sample", SAMPLE), ("kinds", KINDS_OF_TEXT)):
        stages.append(ReadPairs(name=name, source=file, src_lang="de", tgt_lang="en", src_column="de", tgt_column="en"))
    for name, (file, keys) in WIDE.items():
        stages.append(ReadPairs(name=name, source=root / file, src_lang="de", tgt_lang="en", **keys))
    others = tuple(stage.name for stage in stages)
    for name, (file, keys, _) in (PAIRS | FOR_TEACHERS).items():
        share = HELD_OUT.get(name, 0.02)
        stages.append(ReadPairs(name=f"{name}-read", source=root / file, src_lang="de", tgt_lang="en", **keys))
        stages.append(Clean(name=f"{name}-clean", held_out=others, max_words=80))
        stages.append(Split(name=name, share=share))
        stages.append(Split(name=f"{name}-test", input=f"{name}-clean", part="test", share=share))
    tests = (*others, *(f"{name}-test" for name in PAIRS))
    for name, (files, field, count, _) in ENGLISH.items():
        texts = tuple(root / (file if "/" in file else LISTS.format(file)) for file in files)
        stages.append(ReadSentences(name=f"{name}-read", text_files=texts, field=field, capitalize=True, limit=100_000))
        stages.append(Clean(name=f"{name}-clean", held_out=tests, min_words=4, max_words=30))
        stages.append(Filter(name=name, sample=count))
    result = Pipeline(stages, name="continued-pair").run(folder / "corpora")
    (folder / "data").mkdir(exist_ok=True)
    folders = {stage.name: stage.folder for stage in result.stages if not stage.name.endswith(("-read", "-clean"))}
    handbooks = [folders.pop(f"{name}-test") for name in HANDBOOKS]
    for name, parts in {**{name: [one] for name, one in folders.items()}, "handbooks-test": handbooks}.items():
        write_rows(folder / f"data/{name}.tsv.gz", *parts)


def translate_back(folder: Path, name: str, models: dict[str, Path], part: int) -> None:
    """Translate English into German."""
    forward = partial(Translator.load(models["en-de"], check_costs=False).translate, decode="beam:3")
    reverse = Translator.load(models["de-en"], check_costs=False)
    for kind in ENGLISH:
        sentences = [row[0] for row in read_rows(folder / f"data/{kind}.tsv.gz")]
        random.Random(1).shuffle(sentences)
        append_translations(folder / f"{name}/{kind}.tsv", sentences[::part], forward, reverse, 200)


def below(limit: float, file: Path) -> list[tuple[str, str]]:
    """Translations with a low dual cost, without those that repeat letters or syllables."""
    return [row for row, cost in zip(*dual_costs(file), strict=True) if cost <= limit and not STUTTER.search(row[1])]


def choose(folder: Path, models: dict[str, Path], part: int) -> None:
    """Choose among translations into German, and print how many are good enough to learn from."""
    decode = f"{CHOICE},reverse={models['de-en']}"
    forward = Translator.load(models["en-de"], decode=decode, check_costs=False)
    reverse = Translator.load(models["de-en"], check_costs=False)
    for kind, (*_, limit) in ENGLISH.items():
        beam, chosen = folder / f"backtranslations/{kind}.tsv", folder / f"choices/{kind}.tsv"
        limit //= part
        rows, costs = dual_costs(beam)
        possible = [a for (a, _), cost in zip(rows, costs, strict=True) if cost <= POSSIBLE]
        append_translations(chosen, possible[:limit], forward.translate, reverse, 100)
        sure, likely, of_choices = (len(below(*one)) for one in ((SURE, beam), (LIKELY, beam), (SURE, chosen)))
        print(
            f"{kind}: {len(rows)} sentences, {len(possible) / len(rows):.0%} possible; of the beam {sure} sure and "
            f"{likely} likely; of {len(possible[:limit])} choices {of_choices} sure",
            flush=True,
        )


def repeated(rows: list[Any], times: float) -> list[Any]:
    """Rows as often as they are read; below 1, every n-th of them."""
    return rows * int(times) if times >= 1 else rows[:: round(1 / times)]


def training_pairs(folder: Path, model: str, texts: list[str], part: int) -> list[tuple[str, str]]:
    """Bitext, and for a student translations; of `de-en` the synthetic sources of a beam have a tag."""
    teacher, to_english = model.startswith("teacher"), "de-en" in model
    swap = slice(None) if to_english else slice(None, None, -1)
    pairs = [
        tuple(row[swap])
        for name, (*_, times) in (PAIRS | FOR_TEACHERS if teacher else PAIRS).items()
        for row in repeated(read_rows(folder / f"data/{name}.tsv.gz"), times)[::part]
    ]
    for text, kind in [] if teacher else [(text, kind) for text in texts for kind in ENGLISH]:
        if text == "choices":
            chosen = below(SURE, folder / f"choices/{kind}.tsv")
            pairs += REPEATED * [row[:: -1 if to_english else 1] for row in chosen]
        else:
            translated = below(LIKELY if to_english else SURE, folder / f"{text}/{kind}.tsv")
            pairs += [(f"{TAG} {b}", a) if to_english else (a, b) for a, b in translated]
    random.Random(1).shuffle(pairs)
    return pairs


def train(
    folder: Path, start: dict[str, Path], part: int, options: argparse.Namespace, name: str, texts: list[str]
) -> None:
    """Continue the training of one direction; average what is not a teacher, and write its costs."""
    teacher, direction = name.startswith("teacher"), "de-en" if "de-en" in name else "en-de"
    steps = (TEACHER_STEPS if teacher else options.steps) // part
    saved = json.loads((start[direction] / "training.json").read_text(encoding="utf-8"))["config"]
    rates = {"muon_learning_rate": 0.012 * options.rate, "adam_learning_rate": 0.003 * options.rate}
    config = replace(
        TranslatorConfig.from_saved(saved), **SETTINGS, **rates, steps=steps, warmup_steps=min(50, steps // 5)
    )
    pairs = training_pairs(folder, name, texts, 4 * part if options.ablation else 1)
    batches = [([a for a, _ in batch], [b for _, b in batch]) for batch in batched(pairs, 1000)]
    held_out = [
        row
        for text in ("sample", *(text for text in WIDE if "development" in text))
        for row in read_rows(folder / f"data/{text}.tsv.gz")
    ]
    development = [([a], [b]) if direction == "de-en" else ([b], [a]) for a, b in held_out]
    model = folder / name
    trained = model if teacher else folder / "trained" / name
    figures = train_translator(
        lambda: batches, development, config, trained, seed=options.seed, init_from=start[direction]
    )
    print(f"{name}: {len(pairs)} pairs, {figures}", flush=True)
    if teacher:
        return
    average(start[direction], trained, NEW[direction], model)
    if options.ablation:
        return
    names = ("tatoeba",) if direction == "de-en" else ("tatoeba", "help", "gnome-help")
    rows = [row for name in names for row in read_rows(folder / f"data/{name}-test.tsv.gz")]
    translator = Translator.load(model, decode=COST_DECODING, check_costs=False)
    sources = [row[0] if direction == "de-en" else row[1] for row in rows]
    write_costs(
        model,
        CostDistribution.of(best_variants(translator, sources)),
        f"{len(rows)} held-out pairs of {', '.join(names)}",
    )


def average(start: Path, trained: Path, share: float, folder: Path) -> None:
    """Average the weights with those of the start (Wortsman et al. 2022), which know everyday sentences better."""
    old, new = (
        load_file(one / CHECKPOINT / WEIGHTS)
        for one in (with_checkpoint(start, trained / "checkpoint" / "start"), trained)
    )
    scratch = trained / "averaged"
    shutil.copytree(trained / CHECKPOINT, scratch, dirs_exist_ok=True)
    mean = {name: (share * value + (1 - share) * old[name]).contiguous() for name, value in new.items()}
    save_file(mean, scratch / WEIGHTS, metadata={"format": "pt"})
    convert(scratch, folder, precision="int8")
    for name in ("vmap.txt", "training.json", LOG):
        shutil.copyfile(trained / name, folder / name)


def main() -> None:
    """Take the steps that are not done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="run folder")
    parser.add_argument("--start", type=Path, help="folder with de-en and en-de (default: the bundled ones)")
    parser.add_argument("--steps", type=int, default=1000, help="updates of a direction (default: %(default)s)")
    parser.add_argument(
        "--rate", type=float, default=0.3, help="learning rates, of those from scratch (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ablation", type=int, metavar="N", help="train its rows, on an Nth of text and updates")
    parser.add_argument("--only", nargs="*", default=[], help="steps to take (default: all)")
    options = parser.parse_args()
    folder: Path = options.folder
    bundled = {name: Path(str(bundled_path(name))) for name in ("de-en", "en-de")}
    start = {name: options.start / name for name in bundled} if options.start else bundled
    part = options.ablation or 1
    teachers = bundled if options.ablation else {name: folder / f"teacher-{name}" for name in ("en-de", "de-en")}
    continued = partial(partial, train, folder, start, part, options)
    steps: dict[str, Any] = {"data": partial(prepare, folder)}
    if options.ablation:
        steps["own"] = partial(translate_back, folder, "own", start, part)
        rows = {f"de-en-{row}" + f"-{options.seed}" * (options.seed > 1): texts for row, texts in ABLATION.items()}
    else:
        steps |= {model.name: continued(model.name, []) for model in teachers.values()}
        rows = dict.fromkeys(teachers, ABLATION["both"])
    steps["backtranslations"] = partial(translate_back, folder, "backtranslations", teachers, part)
    steps["choices"] = partial(choose, folder, teachers, part)
    steps |= {name: continued(name, texts) for name, texts in rows.items()}
    for name in options.only or steps:
        if not (done := folder / f"{name}.done").is_file():
            began = time.process_time()
            steps[name]()
            done.touch()
            print(f"{name}: {time.process_time() - began:.0f} s of a processor", flush=True)


if __name__ == "__main__":
    main()
