"""Do templates give paraphrases that are right and different, where free decoding gives none, and which ones do?

    export PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs   # of examples/paraphrase_pairs.py
    python benchmarks/template_yield.py generate -o build/templates/development.json --free --rows 16
    python benchmarks/template_yield.py generate -o build/templates/test.json --rows 40
    python benchmarks/template_yield.py compare build/templates
    python benchmarks/template_yield.py draw build/templates
    python benchmarks/template_yield.py count benchmarks/readings/templates reader-1.tsv reader-2.tsv
    python benchmarks/template_yield.py control
    python benchmarks/template_yield.py asked build/asked-templates
    python benchmarks/template_yield.py count-asked benchmarks/readings/templates/asked reader-1.tsv reader-2.tsv
    python benchmarks/template_yield.py nearest build/test-parsed.parquet
    python benchmarks/template_yield.py more

`generate` decodes unpicked sentences freely and with each of the templates that paraphrases of sentences with their own
template had most often (of the text that is reported on, also with the commonest of all), and scores every output as a
free paraphrase, which is what the selection reads. `compare` chooses templates by these counts, by the network, from a
fixed list, and by *yield*: the share of outputs of the development text, by template of the sentence and template asked
for, that the selection keeps and that differ in more than a contraction (QSTR, arXiv 2310.13262, by counts, without a
network). It prints of how many sentences the selection keeps an output then. `draw` writes outputs of free decoding
and of templates for a reader who does not see which (sheet.tsv, and key.tsv), `count` prints what readers found.

`control` asks for the templates of three sentences where they are not a sentence's own: how many outputs have them, are
right by the judge, and are kept of twenty candidates; then the outputs. `asked` asks for them of other sentences, and
writes what presets keep for readers, who add to sheet.tsv whether an output is right (1 or 0: the same meaning in good
English); `count-asked` prints their shares. `nearest` asks for the templates of references.

`more` prints of how many other sentences the selection keeps an output of more candidates: a larger beam, samples,
templates, and *branches*: at each word of the text, the most probable continuations of a copy up to there.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from blind_sheets import draw_sheet, identifier, rows_of, share, table, write_table
from judged_paraphrases import KINDS, QUESTIONS, sentences
from paraphrase_generators import Remembered

from paraloom.api.paraphrase_evaluation import cosines
from paraloom.api.paraphrase_sources import open_selector
from paraloom.api.paraphrasers import Paraphraser, read_parsed
from paraloom.core.protocols import ParaphraseLike, Variant
from paraloom.embed.encoder import open_encoder
from paraloom.papers.scpn.exemplars import draw_pairs
from paraloom.papers.scpn.measure_control import known_templates
from paraloom.paraphrasing.candidates import TemplateCandidates
from paraloom.paraphrasing.control import ControlledVariant
from paraloom.paraphrasing.edits import Edit, english_words
from paraloom.paraphrasing.examples import (
    TEMPLATE_HEIGHT,
    bounded_cut,
    same_template,
    source_text,
    target_prefix,
)
from paraloom.paraphrasing.linearization import cut_tree, plain_text
from paraloom.paraphrasing.selection import DOUBTFUL, DUPLICATE, SURPLUS, ParaphraseSelector

SUGGESTED, FIXED, FREE, MANY = 20, 20, 20, 40
"""Templates by counts, templates of the fixed list, free candidates as the product has them, and twice as many."""
PRIOR = 5.0
"""Outputs by which a share of few outputs is drawn to that of the template, and this to that of all."""
PRESETS = ("strict", "loose")
COSTLESS = "loose, no cost"
"""A template may be improbable and right: the judge decides alone."""
EXEMPLARS = ("At noon, they left the house.", "When it rained, they left the house.", "They left the house at noon.")
CONTROLLED = ("everyday", "captions", "news", "help")
FREELY, YIELD = "free, 20", "yield, 20"

Groups = list[list[ControlledVariant]]
"""The candidates of each text."""

Row = dict[str, Any]
"""A sentence with its kind, its template, and its candidates: freely, and by template."""


def generate(rows: int, seed: int, free: bool, output: Path) -> None:
    """Write the candidates of each sentence, and the processor seconds that they took."""
    model = Paraphraser.load("english")
    places = [(kind, text) for kind in KINDS for text in sentences(kind, rows, seed, free)]
    texts = [text for _, text in places]
    clock = time.process_time
    start = clock()
    trees = model._trees(texts)
    own = [cut_tree(tree, TEMPLATE_HEIGHT) if tree else "" for tree in trees]
    seconds = {"parse": clock() - start}
    common = [] if free else [template for template, _ in model.templates.most_common(FIXED)]
    asked = [[*dict.fromkeys([*model.templates.suggest(one, SUGGESTED), *common])] for one in own]
    flat = [(row, template) for row, of_text in enumerate(asked) for template in of_text]
    sources, of_trees = [texts[row] for row, _ in flat], [trees[row] for row, _ in flat]
    wanted = [template for _, template in flat]
    model.parser = None  # whether an output has its template does not matter to who wants paraphrases
    start = clock()
    decoded = model._decoded(sources, of_trees, wanted, 1, "beam:5,nbest=1", 0)
    seconds["templates"] = clock() - start
    start = clock()
    decoded = model.with_free_logprobs(sources, decoded)
    seconds["score"] = clock() - start
    likely = [math.nan] * len(flat)
    if not free:  # of development text only the shares that are kept are asked for
        start = clock()
        shown = [model._shown(*one) for one in zip(of_trees, wanted, strict=True)]
        likely = model.translator.score_prefixes(
            [source_text(text, one) for text, one in zip(sources, shown, strict=True)], [*map(target_prefix, wanted)]
        )
        seconds["network"] = clock() - start
    written: list[Row] = [
        {"kind": kind, "text": text, "own": of_text, "templates": {}}
        for (kind, text), of_text in zip(places, own, strict=True)
    ]
    for (row, template), group, value in zip(flat, decoded, likely, strict=True):
        if group:
            written[row]["templates"][template] = [*group[0][:3], None if math.isnan(value) else value]
    for name, number in () if free else (("free", FREE), ("many", MANY)):
        start = clock()
        for row, group in zip(written, model.candidates(texts, n=number), strict=True):
            row[name] = [one[:3] for one in group]
        seconds[name] = clock() - start
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"seconds": seconds, "decoded": len(flat), "rows": written}), encoding="utf-8")
    print(f"{len(texts)} sentences, {len(flat)} with templates:", {key: round(one) for key, one in seconds.items()})


def variants(row: Row, templates: Sequence[str]) -> list[Variant]:
    """The outputs of templates."""
    return [Variant(*row["templates"][one][:3]) for one in templates if one in row["templates"]]


def differs(text: str, output: str) -> bool:
    """Whether content words or the order differ: more than a contraction or a function word."""
    edit = Edit.between(english_words(text), english_words(output))
    return bool(edit.lost or edit.new or (edit.reordered and not edit.functional))


def learned_yield(rows: Sequence[Row], selector: ParaphraseSelector) -> Callable[[str, str], float]:
    """The expected share of good outputs of a template for a sentence with another one, counted on development text."""
    groups = [variants(row, [*row["templates"]]) for row in rows]
    reasons = selector.select([row["text"] for row in rows], groups, 1).reasons
    tried, good = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row, group, of_row in zip(rows, groups, reasons, strict=True):
        for template, one, reason in zip(row["templates"], group, of_row, strict=True):
            right = reason in ("", DUPLICATE, SURPLUS) and differs(row["text"], one.text)
            for key in ((row["own"], template), ("", template), ("", "")):
                tried[key] += 1
                good[key] += right
    print(f"development text: {good['', '']} of {tried['', '']} outputs are kept and differ")

    def expected(own: str, template: str) -> float:
        value = good["", ""] / tried["", ""]
        for key in (("", template), (own, template)):
            value = (good[key] + PRIOR * value) / (tried[key] + PRIOR)
        return value

    return expected


def methods(rows: Sequence[Row], expected: Callable[[str, str], float]) -> dict[str, list[list[Variant]]]:
    """Name of a choice of candidates → the candidates of each sentence."""
    known = Paraphraser.load("english").templates
    fixed = [template for template, _ in known.most_common(FIXED)]
    freely = [[Variant(*one) for one in row["free"]] for row in rows]
    choices: dict[str, Callable[[Row], list[str]]] = {
        "fixed list": lambda row: fixed,
        "counts": lambda row: known.suggest(row["own"], SUGGESTED),
        "network": lambda row: sorted(row["templates"], key=lambda one: -(row["templates"][one][3] or -math.inf)),
        "yield": lambda row: sorted(row["templates"], key=lambda one: -expected(row["own"], one)),
    }
    groups = {FREELY: freely, "free, 40": [[Variant(*one) for one in row["many"]] for row in rows]}
    for name, choice in choices.items():
        groups[f"{name}, 20"] = [variants(row, choice(row)[:SUGGESTED]) for row in rows]
    groups["yield, 5"] = [variants(row, choices["yield"](row)[:5]) for row in rows]
    groups["all templates"] = [variants(row, [*row["templates"]]) for row in rows]
    for name in ("fixed list, 20", "counts, 20", "network, 20", "yield, 20", "all templates"):
        groups[f"free and {name}"] = [[*a, *b] for a, b in zip(freely, groups[name], strict=True)]
    return groups


def kept(
    rows: Sequence[Row], groups: dict[str, list[list[Variant]]], selectors: dict[str, ParaphraseSelector]
) -> dict[tuple[str, str], list[str]]:
    """Candidates and preset → the output of each sentence that is kept; '' for none."""
    texts = [row["text"] for row in rows]
    outputs = {}
    for preset, selector in selectors.items():
        for name, group in groups.items():
            given = (
                [[one._replace(logprob=math.nan) for one in ones] for ones in group] if preset == COSTLESS else group
            )
            outputs[name, preset] = [one[0].text if one else "" for one in selector.select(texts, given, 1).kept]
    return outputs


def open_selectors() -> dict[str, ParaphraseSelector]:
    """The presets, with a judge that reads each pair once."""
    selectors = {preset: open_selector(preset, judge=None, language="en") for preset in PRESETS}
    selectors[COSTLESS] = open_selector("loose", judge=None, language="en")
    judge = selectors[COSTLESS].judge
    assert judge is not None
    remembered = Remembered(judge)
    for selector in selectors.values():
        selector.judge = remembered
    return selectors


def read_rows(path: Path) -> list[Row]:
    """The sentences of `generate`."""
    rows: list[Row] = json.loads(path.read_text("utf-8"))["rows"]
    return rows


def outputs_of(folder: Path, names: Sequence[str] = ()) -> tuple[list[Row], dict[tuple[str, str], list[str]]]:
    """The sentences that are reported on, and what is kept of each choice of candidates, or of some."""
    selectors, rows = open_selectors(), read_rows(folder / "test.json")
    expected = learned_yield(read_rows(folder / "development.json"), selectors["strict"])
    groups = methods(rows, expected)
    return rows, kept(rows, {name: groups[name] for name in names or groups}, selectors)


def compare(folder: Path) -> None:
    """Print the table."""
    rows, outputs = outputs_of(folder)
    texts = [row["text"] for row in rows]
    drawn = np.random.default_rng(1).integers(len(rows), size=(2000, len(rows)))
    differing = {
        name: np.array([bool(one) and differs(text, one) for text, one in zip(texts, ones, strict=True)])
        for name, ones in outputs.items()
    }
    print("| candidates | preset | sentences with an output | that differs | more of these than freely, points |")
    print("| --- | --- | ---: | ---: | ---: |")
    for (name, preset), ones in outputs.items():
        gain = 100 * (differing[name, preset].astype(float) - differing[FREELY, preset])
        low, high = np.percentile(gain[drawn].mean(axis=1), [2.5, 97.5])
        gained = "" if name == FREELY else f"{gain.mean():+.1f} [{low:+.1f}, {high:+.1f}]"
        shares = f"{share([*map(bool, ones)])} | {share(differing[name, preset].tolist())}"
        print(f"| {name} | {preset} | {shares} | {gained} |")


def draw(folder: Path, number: int) -> None:
    """Write outputs that differ, so many of each cell, shuffled, and the key."""
    rows, outputs = outputs_of(folder, (FREELY, YIELD))
    pairs, key = dict[str, tuple[str, str]](), list[tuple[str, str, str, str]]()
    for name, preset in ((FREELY, "loose"), (YIELD, "loose"), (YIELD, COSTLESS)):
        places = [
            (row["kind"], row["text"], one)
            for row, one in zip(rows, outputs[name, preset], strict=True)
            if one and differs(row["text"], one)
        ]
        random.Random(1).shuffle(places)
        for kind, *pair in places[:number]:
            pairs[identifier(*pair)] = (pair[0], pair[1])
            key.append((identifier(*pair), kind, preset, name))
    draw_sheet(folder, ("id", "source", "paraphrase"), pairs, (("id", "kind", "preset", "candidates"), key))


def count(folder: Path, sheets: list[Path]) -> None:
    """Print the shares of each answer."""
    key = table(folder / "key.tsv")
    for sheet in sheets:
        reader = rows_of(sheet)
        for name, preset in dict.fromkeys((row["candidates"], row["preset"]) for row in key):
            read = [reader[row["id"]] for row in key if (row["candidates"], row["preset"]) == (name, preset)]
            shares = [share([row[question] == "1" for row in read]) for question in QUESTIONS]
            whole = share([all(row[question] == "1" for question in QUESTIONS) for row in read])
            print(f"| {sheet.stem} | {name} | {preset} | {len(read)} | {' | '.join(shares)} | {whole} |")


def asked_of(model: Paraphraser, texts: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """The template of each exemplar → the sentences with another one, and theirs."""
    trees, requests = model._trees(texts), dict[str, list[tuple[str, str]]]()
    for tree in model._trees(EXEMPLARS):
        template = bounded_cut(tree or "", TEMPLATE_HEIGHT, model.settings.control.max_labels)
        owns = [cut_tree(one, TEMPLATE_HEIGHT) if one else template for one in trees]  # without a tree: left out
        requests[template] = [(text, own) for text, own in zip(texts, owns, strict=True) if own != template]
    return requests


def control(rows: int, seed: int) -> None:
    """Print how many outputs have a template that is not the sentence's own, are right, and are kept."""
    model, selectors = Paraphraser.load("english"), open_selectors()
    selectors[COSTLESS].config = replace(selectors[COSTLESS].config, difference=0.0)
    texts = [text for kind in CONTROLLED for text in sentences(kind, rows, seed, free=False)]
    print("| template | sentences with another | of 5: followed | right by the judge | both | of 20 | strict | loose |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    verdicts, suited, pairs = list[list[bool]](), list[list[bool]](), model.templates.pair_counts
    outputs = list[tuple[str, str, str, str]]()
    for template, asked in asked_of(model, texts).items():
        sources = [text for text, _ in asked]
        nearest = model.candidates(sources, n=5, template=template, decode="beam:5,nbest=5")
        # Without its probability, which a template lowers: the judge decides alone.
        first = [[Variant(one.text, math.nan, one.tokens) for one in group[:1]] for group in nearest]
        right = [bool(one) for one in selectors[COSTLESS].select(sources, first, 1).kept]
        followed = [bool(group and group[0].has_template) for group in nearest]
        many = TemplateCandidates(model, template=template).paraphrase(sources, n=FREE)
        columns = [followed, right, [*map(all, zip(followed, right, strict=True))]]
        columns.append([any(getattr(one, "has_template", False) for one in group) for group in many])
        for preset in PRESETS:
            kept = [one[0].text if one else "" for one in selectors[preset].select(sources, many, 1).kept]
            columns.append([*map(bool, kept)])
            outputs += [(preset, template, *pair) for pair in zip(sources, kept, strict=True) if pair[1]]
        of_template = [[*row] for row in zip(*columns, strict=True)]
        print_control(f"`{template}`", of_template)
        verdicts += of_template
        suited += [row for (_, own), row in zip(asked, of_template, strict=True) if pairs[own, template]]
    print_control("all", verdicts)
    print_control("all that paraphrases of such sentences had", suited)
    for output in outputs:
        print("\t".join(output))


def asked(rows: int, seed: int, skip: int, number: int, folder: Path) -> None:
    """Add what presets keep with the templates of the exemplars to kept.json, and write a sheet of all for readers."""
    model, selectors = Paraphraser.load("english"), open_selectors()
    kind_of = {text: kind for kind in CONTROLLED for text in sentences(kind, skip + rows, seed, free=False)[skip:]}
    kept: list[list[str]] = json.loads(path.read_text("utf-8")) if (path := folder / "kept.json").exists() else []
    requests, before = 0, len(kept)
    for template, of_template in asked_of(model, [*kind_of]).items():
        sources = [text for text, _ in of_template]
        requests += len(sources)
        groups = candidates_with(model, template, sources)
        for preset in PRESETS:
            for text, ones in zip(sources, selectors[preset].select(sources, groups, 1).kept, strict=True):
                by = [getattr(one.candidate, "rule", "") and "rules" for one in ones]
                kept += [[kind_of[text], preset, one or "network", text, template, ones[0].text] for one in by]
    counts = Counter(row[1] for row in kept[before:])
    print(f"{len(kind_of)} sentences, {requests} requests, kept: {dict(counts)}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, ensure_ascii=False, indent=0), encoding="utf-8")
    write_asked(kept, number, folder)


def candidates_with(model: Paraphraser, template: str, sources: list[str]) -> list[list[ParaphraseLike]]:
    """Twenty outputs of the network and what else has a template; of a sentence without a comma for a template with one
    no output of the network, because a preset drops all of these."""
    decoded = [text for text in sources if "," not in template or "," in text]
    groups = dict(zip(decoded, TemplateCandidates(model, template=template).paraphrase(decoded, n=FREE), strict=True))
    others = [text for text in sources if text not in groups]
    copies = [[ControlledVariant(text, 0.0, 1, template, "", 1)] for text in others]
    groups |= {text: [*group] for text, group in zip(others, model.with_moves(others, copies), strict=True)}
    return [groups[text] for text in sources]


def write_asked(kept: list[list[str]], number: int, folder: Path) -> None:
    """Write so many outputs, of all kinds and presets in turn, to sheet.tsv, and whose they are to key.tsv."""
    names = {identifier(f"{row[3]} {row[4]}", row[5]): row[3:] for row in kept}
    waiting = {(kind, preset): list[str]() for kind in CONTROLLED for preset in PRESETS}
    for name, (kind, preset, *_) in sorted((identifier(f"{row[3]} {row[4]}", row[5]), row) for row in kept):
        waiting[kind, preset].append(name)  # in the order of their digests: unpicked
    chosen = list[str]()
    while any(waiting.values()) and len(chosen) < number:
        for of_cell in waiting.values():
            of_cell[:] = [name for name in of_cell if name not in chosen]
            chosen += of_cell[:1]
    order = sorted(chosen[:number])
    random.Random(1).shuffle(order)
    columns = ("id", "sentence", "template", "output", "right")
    write_table(folder / "sheet.tsv", columns, ([name, *names[name], ""] for name in order))
    key = [(identifier(f"{row[3]} {row[4]}", row[5]), *row[:3]) for row in kept]
    write_table(folder / "key.tsv", ("id", "kind", "preset", "by"), sorted(row for row in key if row[0] in order))


def count_asked(folder: Path, sheets: list[Path]) -> None:
    """Print how many outputs are right by each reader: of each preset, by kind of text and by who wrote them."""
    key, readers = table(folder / "key.tsv"), [rows_of(sheet) for sheet in sheets]
    for preset in PRESETS:
        of_preset = [row for row in key if row["preset"] == preset]
        cells = dict.fromkeys([("", ""), *((name, row[name]) for name in ("kind", "by") for row in of_preset)])
        for name, value in cells:
            ids = [row["id"] for row in of_preset if not name or row[name] == value]
            shares = [share([reader[one]["right"].strip() == "1" for one in ids]) for reader in readers]
            print(f"| {preset} | {value or 'all'} | {len(ids)} | {' | '.join(shares)} |")


def nearest_of(pairs: Path, rows: int, seed: int) -> None:
    """Print how often the nearest of 5 and of 20 outputs has the template of a reference, and the gain."""
    model, encoder = Paraphraser.load("english"), open_encoder("english")
    parsed = [one for batch in read_parsed(pairs) for one in batch if one.source_tree and not same_template(one)]
    drawn = draw_pairs(parsed, rows, seed)
    sources = [one.source for one in drawn]
    resampled = np.random.default_rng(1).integers(len(drawn), size=(2000, len(drawn)))
    print("| height | nearest of | followed | more than of 5, points | meaning | seconds a sentence |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for height in (2, 3):
        templates = known_templates(model, [one.paraphrase_tree or "" for one in drawn], height)
        of_few = np.zeros(len(drawn))
        for number in (5, 20):
            start = time.process_time()
            groups = model.candidates(sources, n=number, template=templates, decode=f"beam:{number},nbest={number}")
            seconds = (time.process_time() - start) / len(sources)
            meaning = np.mean(cosines(encoder, sources, [group[0].text for group in groups]))
            followed = np.array([bool(group[0].has_template) for group in groups], np.float64)
            gain = 100 * (followed - of_few)
            of_few = followed if number == 5 else of_few
            low, high = np.percentile(gain[resampled].mean(axis=1), [2.5, 97.5])
            more = f"{gain.mean():+.1f} [{low:+.1f}, {high:+.1f}]" if number > 5 else ""
            cells = (height, number, share([*followed.astype(bool)]), more, f"{meaning:.3f}", f"{seconds:.3f}")
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def branches(model: Paraphraser, texts: Sequence[str]) -> Groups:
    """The continuations of a copy that ends before each word: of the five likeliest next subwords, the best each."""
    decoder, beginnings = model.translator._decoder, model.translator._beginnings
    flat = [(row, at) for row, one in enumerate(texts) for at in range(len(one.split()))]
    sources = decoder.codec.encode([source_text(texts[row], None) for row, _ in flat])
    copies = [" ".join(plain_text(texts[row]).split()[:at]) for row, at in flat]
    results = decoder.engine().translate_batch(
        sources,
        beginnings([f"{target_prefix()} {one}".strip() for one in copies], len(copies)),
        beam_size=1,
        num_hypotheses=5,
        return_alternatives=True,
        min_alternative_expansion_prob=0.01,
        max_batch_size=1024,
        batch_type="tokens",
    )
    start, groups = len(beginnings([target_prefix()], 1)[0]), [dict[str, ControlledVariant]() for _ in texts]
    for (row, _), result in zip(flat, results, strict=True):
        for text in decoder.codec.decode([one[start:] for one in result.hypotheses]):
            groups[row][text] = ControlledVariant(text, 0.0, 1)
    return model.with_free_logprobs(texts, [[*group.values()] for group in groups])


def by_templates(model: Paraphraser, texts: Sequence[str]) -> Groups:
    """An output of each template of the fixed list."""
    parser, trees, model.parser = model.parser, model._trees(texts), None
    flat = [(row, one) for row in range(len(texts)) for one, _ in model.templates.most_common(FIXED)]
    sources, templates = [texts[row] for row, _ in flat], [one for _, one in flat]
    decoded = model._decoded(sources, [trees[row] for row, _ in flat], templates, 1, "beam:5,nbest=1", 0)
    decoded, model.parser = model.with_free_logprobs(sources, decoded), parser
    return [[one for group in decoded[row : row + FIXED] for one in group] for row in range(0, len(flat), FIXED)]


def more(rows: int, seed: int) -> None:
    """Print how many sentences have an output of further candidates, and what these cost."""
    model, clock = Paraphraser.load("english"), time.process_time
    texts = [text for kind in KINDS for text in sentences(kind, rows, seed, free=True)]
    generators: dict[str, Callable[[], Groups]] = {
        FREELY: lambda: model.candidates(texts, n=FREE),
        "free, 80": lambda: model.candidates(texts, n=4 * FREE),
        "sampled, 40": lambda: model.candidates(texts, n=MANY, decode="nucleus:0.95,within=50", seed=1),
        "fixed list, 20": lambda: by_templates(model, texts),
        "branches": lambda: branches(model, texts),
    }
    selectors, groups = open_selectors(), dict[str, Groups]()
    print("| candidates | seconds a sentence | preset | with an output | that differs | judged |")
    for name, generator in generators.items():
        start = clock()
        groups[name] = generator()
        seconds = f"{(clock() - start) / len(texts):.2f}"
        freely = [] if name == FREELY else [groups[FREELY]]
        print_kept(name, seconds, texts, [*freely, groups[name]], selectors)
    print_kept("all", "", texts, [*groups.values()], selectors)


def print_kept(
    name: str, seconds: str, texts: list[str], several: list[Groups], selectors: dict[str, ParaphraseSelector]
) -> None:
    """A row of the table of `more` for each preset: sentences with an output, and with a candidate to be judged."""
    pools = [[one for group in groups for one in group] for groups in zip(*several, strict=True)]
    distinct = [[*{one.text: one for one in reversed(pool)}.values()][::-1] for pool in pools]
    for preset in PRESETS:
        selection = selectors[preset].select(texts, distinct, 1)
        outputs = [one[0].text if one else "" for one in selection.kept]
        differing = [bool(one) and differs(text, one) for text, one in zip(texts, outputs, strict=True)]
        judged = [any(one in ("", DOUBTFUL, DUPLICATE, SURPLUS) for one in reasons) for reasons in selection.reasons]
        cells = (seconds, preset, share([*map(bool, outputs)]), share(differing), share(judged))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_control(name: str, verdicts: list[list[bool]]) -> None:
    """A row of the table of `control`."""
    cells = [share([*column]) for column in zip(*verdicts, strict=True)]
    print(f"| {name} | {len(verdicts)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Write candidates or a sheet, or print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    generating, controlling, adding = (commands.add_parser(name) for name in ("generate", "control", "more"))
    for command, rows in ((generating, 40), (controlling, 15), (adding, 17)):
        command.add_argument("--rows", type=int, default=rows, help="sentences of each kind of text")
        command.add_argument("--seed", type=int, default=5203)
    generating.add_argument("-o", "--output", type=Path, required=True)
    generating.add_argument("--free", action="store_true", help="other sentences, to learn from")
    nearing = commands.add_parser("nearest")
    nearing.add_argument("pairs", type=Path, help="parsed pairs, as `paraloom research parse` writes them")
    nearing.add_argument("--rows", type=int, default=1000)
    for name in ("compare", "draw", "count", "asked", "count-asked"):
        commands.add_parser(name).add_argument("folder", type=Path)
    commands.choices["draw"].add_argument("--number", type=int, default=20, help="of each cell")
    for name in ("count", "count-asked"):
        commands.choices[name].add_argument("sheets", type=Path, nargs="+")
    commands.choices["asked"].add_argument("--rows", type=int, default=100, help="sentences of each kind of text")
    commands.choices["asked"].add_argument("--skip", type=int, default=75, help="sentences that chose something")
    options = parser.parse_args()
    if options.command == "generate":
        generate(options.rows, options.seed, options.free, options.output)
    elif options.command == "compare":
        compare(options.folder)
    elif options.command == "draw":
        draw(options.folder, options.number)
    elif options.command == "count":
        count(options.folder, options.sheets)
    elif options.command == "asked":
        asked(options.rows, 5203, options.skip, 60, options.folder)
    elif options.command == "count-asked":
        count_asked(options.folder, options.sheets)
    elif options.command == "nearest":
        nearest_of(options.pairs, options.rows, 1)
    elif options.command == "more":
        more(options.rows, options.seed)
    else:
        control(options.rows, options.seed)


if __name__ == "__main__":
    main()
