"""Opening whatever encodes sentences: encoders of ours, static models and transformers of others."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.protocols import EncoderLike
from paraloom.embed.sentence_transformer import SentenceTransformerEncoder
from paraloom.embed.static import is_static, load_static
from paraloom.embed.store import load_encoder
from paraloom.embed.transformer import TransformerEncoder, is_transformer


def open_encoder(model: str | Path, threads: int = 1) -> EncoderLike:
    """The encoder in a folder, or behind a Hugging Face name.

    Raises ModelError where there is none that can be read, ConfigError where sentence-transformers is needed and not
    installed.
    """
    folder = Path(model)
    if is_transformer(folder):
        return TransformerEncoder(folder, threads)
    if is_static(folder):
        return load_static(folder, threads)
    if folder.exists() and not (folder / "modules.json").is_file():
        return load_encoder(folder, threads)
    return SentenceTransformerEncoder(str(model))
