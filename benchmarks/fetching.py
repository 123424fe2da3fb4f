"""Measure `paraloom models fetch`: seconds, sizes and memory, and what its costs say of text of several kinds.

    python benchmarks/fetching.py fetch
    PARALOOM_DATA=/path/to/corpora python benchmarks/fetching.py costs de-en en-de -o build/fetching

`fetch` serves a Marian model of the size of OPUS-MT's from this machine as the hub does, and fetches it with empty
caches, after a connection that broke in the middle, with a damaged byte, and offline; each in a process of its own. Its
weights are random, so its translations are as long as the decoder lets them be, and to measure it takes longer than a
real model does. `costs` takes bundled translators, or those of folders, for fetched ones: it translates the bundled
kinds of text and up to 100 rows of each German–English corpus, drawn by seed, and prints in how many of 500 random
samples of 50 they warn. The limit of their warning is a quantile of the costs of good translations; first it prints,
for different chrF of a good one, in how many samples of each bundled kind they would warn by the costs of the others.
Rows of Tatoeba, the help pages, Europarl and handbooks are those that the bundled translators did not learn from.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from hub_server import Hub, hub_server
from tiny_translators import write_checkpoint
from translation_checks import Rows, captions, held_out, read_table, share_above

from paraloom.api.fetching import GOOD, KindResult, good_translations, measure_kinds
from paraloom.bundled import KINDS_OF_TEXT
from paraloom.core.protocols import Variant
from paraloom.io import read_lines
from paraloom.mt import Translator
from paraloom.mt.costs import COST_DECODING, HIGH_SHARE, CostDistribution
from paraloom.mt.streams import best_variants
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points
from paraloom.text.normalize import normalize

ROWS = 100
HANDBOOKS = (
    *("rust-book", "debian-handbook", "privacyguides", "opensource-guide", "django-girls", "tldr", "twelve-factor"),
    *("command-line", "asvs"),
)
BITEXT = {
    **{"yast": 2000, "ted-sample": None, "shattered-pixel-dungeon": None, "wmt-news": 3003},
    **{"news-commentary-v8": None, "phpmyadmin-docs": None, "xquad": None, "bible-2": None},
}
BEFORE = (55.0, 0.85)
"""The chrF of a good translation, and the share of their costs below the limit, of the limits before."""
KINDS = [f"kind:{name}" for name in ("everyday", "help", "handbook", "commands", "essays", "news")]
NAME = "opus-mt-de-en"
PIECES = 58_101
BASE = {"d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}


def write_opus(folder: Path) -> Path:
    """Write a random model of the size of OPUS-MT's."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    write_checkpoint("marian", folder)
    pieces = [
        piece.replace(">>", "__") for piece in json.loads((folder / "vocab.json").read_text()) if piece != "<pad>"
    ]
    pieces += [f"piece{number}" for number in range(len(pieces), PIECES - 1)]
    (folder / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate([*pieces, "<pad>"])}))
    heads = {"encoder_attention_heads": 8, "decoder_attention_heads": 8}
    sizes = {"vocab_size": PIECES, "decoder_vocab_size": PIECES}
    padding = {"pad_token_id": PIECES - 1, "decoder_start_token_id": PIECES - 1}
    torch.manual_seed(1)
    model = MarianMTModel(MarianConfig.from_pretrained(folder, **BASE, **heads, **sizes, **padding))
    model.final_logits_bias[0, model.config.eos_token_id] = 100.0
    model.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n")
    return folder


def fetched(hub: Hub | None, home: Path) -> tuple[float, str]:
    """Run the command; returns its seconds on a processor and the last line that it printed."""
    settings = {"HF_ENDPOINT": hub.endpoint if hub else "http://127.0.0.1:1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    settings |= {"PARALOOM_CACHE": str(home / "cache"), "HF_HOME": str(home / "hub")}
    command = [sys.executable, "-m", "paraloom", "models", "fetch", NAME]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("paraloom: ")]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, f"exit status {done.returncode}. {' '.join(lines[-1:])}"


def measure_fetch() -> None:
    """Print seconds on a processor of each case, sizes and the most memory."""
    with tempfile.TemporaryDirectory() as name, hub_server() as hub:
        folder = Path(name)
        hub.models[f"Helsinki-NLP/{NAME}"] = write_opus(folder / "served")
        size = (folder / "served" / "model.safetensors").stat().st_size
        print(f"download {size / 1e6:.0f} MB")

        def case(title: str, home: str, online: bool = True) -> None:
            hub.requests.clear()
            seconds, end = fetched(hub if online else None, folder / home)
            print(f"{title}: {seconds:.1f} s, downloads of the weights: {hub.downloads('.safetensors')}; {end}")

        case("offline", "offline", online=False)
        case("cold", "cold")
        case("again", "cold")
        model = folder / "cold/cache/translators" / f"Helsinki-NLP--{NAME}-int8"
        print(f"stored {sum(path.stat().st_size for path in model.iterdir()) / 1e6:.0f} MB")
        hub.breaks = [size // 2, *[0] * 6]
        case("broken, six times in a row", "broken")
        hub.breaks = []
        case("resumed", "broken")
        hub.damages = ".safetensors"
        case("damaged", "damaged")
        hub.damages = None
        case("damaged before", "damaged")
        print(f"most memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:.1f} GB")


def corpora(data: Path) -> dict[str, Rows]:
    """Rows of each corpus, of up to 60 words."""
    texts = {f"{name}, held out": rows for name, rows in held_out(data).items()}
    handbooks = [row for name in HANDBOOKS for row in read_table(data / f"bitext/{name}/de-en.tsv.gz")]
    handbooks = [row for row in handbooks if row[0] != row[1] and row[1] and 0.4 <= len(row[0]) / len(row[1]) <= 2.5]
    targets = normalize([target for _, target in handbooks]).to_pylist()
    bundled = {line.split("\t")[2] for line in read_lines(KINDS_OF_TEXT)}
    texts["handbooks, held out"] = [
        row
        for row, target in zip(handbooks, targets, strict=True)
        if is_held_out(target, 0.02) and row[1] not in bundled
    ]
    texts["captions 2016"] = captions(data, "test_2016_flickr", "de")
    for name, limit in BITEXT.items():
        texts[name] = read_table(data / f"bitext/{name}/de-en.tsv.gz")[:limit]
    for name, rows in texts.items():
        short = [row for row in rows if 2 <= len(row[0].split()) <= 60 and len(row[1].split()) <= 60]
        texts[name] = random.Random(1).sample(short, min(ROWS, len(short)))
    return texts


def measured_texts(name: str, data: Path, file: Path) -> dict[str, KindResult]:
    """What a translator makes of the bundled kinds of text and of each corpus, from the file if it is there."""
    if not file.is_file():
        model = Translator.load(name, decode=COST_DECODING, check_costs=False)
        source = 0 if model.source == "de" else 1
        results = [KindResult(f"kind:{one.kind}", *one[1:]) for one in measure_kinds(model)]
        for text, rows in corpora(data).items():
            best = best_variants(model, [row[source] for row in rows])
            references = code_points([row[1 - source] for row in rows])
            results.append(
                KindResult(text, chrf_from_points(code_points([one.text for one in best]), references), best)
            )
        saved = {
            one.kind: [
                [variant.logprob, variant.tokens, float(chrf), variant.text]
                for variant, chrf in zip(one.best, one.chrf, strict=True)
            ]
            for one in results
        }
        file.write_text(json.dumps(saved), encoding="utf-8")
    return {
        kind: KindResult(kind, np.array([row[2] for row in rows]), [Variant(row[3], row[0], row[1]) for row in rows])
        for kind, rows in json.loads(file.read_text(encoding="utf-8")).items()
    }


def warned(one: KindResult, reference: CostDistribution, share: float) -> str:
    """In how many samples of a text the warning comes, with a share of the reference below the limit."""
    costs = np.array([-variant.logprob / variant.tokens for variant in one.best if variant.tokens])
    return f"{share_above(costs, reference.quantile(share), 50, seed=1):.0%}"


def costs_of(measured: Sequence[KindResult], good: float) -> CostDistribution:
    """Costs of the translations that are good."""
    return CostDistribution.of(good_translations(measured, good))


def measure_costs(name: str, data: Path, folder: Path) -> None:
    """Print, for a translator, how different limits fare with each kind left out, and what the chosen one warns of."""
    texts = measured_texts(name, data, folder / f"{name.replace('/', '-')}.json")
    kinds = sorted((one for one in texts.values() if one.kind in KINDS), key=lambda one: -one.chrf.mean())
    print(f"\n{name} | " + " | ".join(f"{one.kind[5:]}, {one.chrf.mean():.1f}" for one in kinds))
    for good, share in ((good, share) for share in (HIGH_SHARE, BEFORE[1]) for good in range(45, 75, 5)):
        shares = [warned(one, costs_of([other for other in kinds if other is not one], good), share) for one in kinds]
        print(f"chrF of {good} or more, {share:.0%} of their costs | {' | '.join(shares)}")
    rules = {limit: costs_of(kinds, limit[0]) for limit in (BEFORE, (GOOD, HIGH_SHARE))}
    for (good, share), costs in rules.items():
        print(f"{costs.sentences} translations of {good:.0f} or more; limit {costs.quantile(share):.2f}")
    print("| text | chrF | median cost | warns, before | warns, now |")
    for one in sorted((one for one in texts.values() if one.kind not in KINDS), key=lambda one: -one.chrf.mean()):
        median = CostDistribution.of(one.best).median
        shares = [warned(one, costs, share) for (_, share), costs in rules.items()]
        print(f"| {one.kind} | {one.chrf.mean():.1f} | {median:.2f} | {' | '.join(shares)} |", flush=True)


def main() -> None:
    """Measure one of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fetch", "costs"))
    parser.add_argument("translators", nargs="*", default=["de-en", "en-de"])
    parser.add_argument("-o", "--output", type=Path, default=Path("build/fetching"))
    options = parser.parse_args()
    if options.what == "fetch":
        measure_fetch()
        return
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.translators:
        measure_costs(name, Path(os.environ["PARALOOM_DATA"]), options.output)


if __name__ == "__main__":
    main()
