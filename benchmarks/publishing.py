"""What a published data set and exported encoders are to other libraries, offline: rows, configs, cards, cosines.

    pip install -e '.[distill]' datasets && paraloom quickstart runs/quickstart
    HF_HUB_OFFLINE=1 python benchmarks/publishing.py runs/quickstart

The data set is loaded by `datasets`, cards are read by huggingface_hub with errors for wrong metadata, licenses are
compared with the Hub's list, and encoders are opened by sentence-transformers, without code of the folder if possible.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from datasets import load_dataset
from huggingface_hub import DatasetCard, ModelCard
from sentence_transformers import SentenceTransformer

import paraloom
from paraloom.api import export_encoder
from paraloom.api.quickstart import READ
from paraloom.bundled import BUNDLED, SAMPLE, bundled_path
from paraloom.core.licenses import HUB_LICENSES


def card_of(kind: Any, folder: Path) -> str:
    """Licenses and number of results of a card that the Hub's library reads."""
    data = kind.load(folder / "README.md", ignore_metadata_errors=False).data
    licenses = data.license if isinstance(data.license, list) else [data.license]
    unknown = set(licenses) - HUB_LICENSES
    results = len(data.eval_results or []) if kind is ModelCard else 0
    return f"{len(licenses)} licenses, {len(unknown)} unknown" + (f"; {results} results" if results else "")


def measure(run: Path, scratch: Path) -> Iterator[tuple[str, str, str]]:
    """What was tried, what came of it, and the card."""
    published = paraloom.publish(run, scratch / "pairs", read_by=READ)
    loaded = load_dataset(str(scratch / "pairs"), cache_dir=str(scratch / "cache"))
    rows = ", ".join(f"{name}: {part.num_rows} rows, {len(part.column_names)} columns" for name, part in loaded.items())
    assert loaded["train"].num_rows == published.rows
    yield "`publish` of the quickstart, by `datasets`", rows, card_of(DatasetCard, scratch / "pairs")
    texts = paraloom.read_pairs(SAMPLE, src_column="de", tgt_column="en")["tgt"]
    for name in ("english-small", "english"):
        folder = scratch / name
        trust = "trust_remote_code" in export_encoder(name, folder)
        ours = paraloom.Encoder.load(name).encode(texts, normalize_embeddings=True)
        theirs = SentenceTransformer(str(folder), device="cpu", trust_remote_code=trust).encode(
            texts, normalize_embeddings=True, show_progress_bar=False
        )
        cosines = ours @ ours.T - theirs @ theirs.T
        text = f"{'with' if trust else 'without'} code; cosines differ by {np.abs(cosines).mean():.4f}, "
        text += f"{np.abs(cosines).max():.4f} at most"
        yield f"export of `{name}`, by sentence-transformers", text, card_of(ModelCard, folder)
    for name in BUNDLED:
        yield f"card of `{name}`", "as bundled", card_of(ModelCard, bundled_path(name) or Path())


def main() -> None:
    """Print a Markdown table."""
    warnings.simplefilter("ignore")
    print("| what | result | card |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for row in measure(Path(sys.argv[1]), Path(scratch)):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
