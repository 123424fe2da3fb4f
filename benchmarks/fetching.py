"""Measure `paraloom models fetch`: seconds, sizes and memory, and what its costs say of text of several kinds.

    python benchmarks/fetching.py fetch
    PARALOOM_DATA=/path/to/corpora python benchmarks/fetching.py costs

`fetch` serves a Marian model of the size of OPUS-MT's from this machine as the hub does, and fetches it with empty
caches, after a connection that broke in the middle, with a damaged byte, and offline; each in a process of its own. Its
weights are random, so its translations are as long as the decoder lets them be, and to measure it takes longer than a
real model does. `costs` takes the bundled translators for fetched ones: it measures them on the bundled kinds of text,
and prints in how many samples of the corpora they then warn, as `translation_checks.py costs` does for the costs of
their development text.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

import translation_checks
from hub_server import Hub, hub_server
from tiny_translators import write_checkpoint

from paraloom.api.fetching import costs_of, kinds_at_home, measure_kinds
from paraloom.bundled import bundled_path
from paraloom.mt import Translator
from paraloom.mt.costs import write_costs

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


def measure_costs(data: Path) -> None:
    """Print what the bundled translators know, and how often they warn of text of other kinds."""
    for name in ("de-en", "en-de"):
        measured = measure_kinds(Translator.load(name, check_costs=False))
        print(name, ", ".join(f"{one.kind} {one.chrf:.1f}" for one in measured))
        home = kinds_at_home(measured)
        print("knows", ", ".join(one.kind for one in home), costs_of(home).format())
        if name == "de-en":
            with tempfile.TemporaryDirectory() as copy:
                folder = Path(shutil.copytree(str(bundled_path(name)), copy, dirs_exist_ok=True))
                write_costs(folder, costs_of(home), "kinds of text")
                translation_checks.costs(data, copy, seed=1)


def main() -> None:
    """Measure one of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fetch", "costs"))
    if parser.parse_args().what == "fetch":
        measure_fetch()
    else:
        measure_costs(Path(os.environ["PARALOOM_DATA"]))


if __name__ == "__main__":
    main()
