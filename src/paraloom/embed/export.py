"""An encoder as a folder that sentence-transformers opens, and that gives the same vectors there."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import __version__
from paraloom.core.errors import MissingExtraError
from paraloom.embed import model_card as card
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.store import save
from paraloom.embed.subwords import MARK, SubwordVocabulary
from paraloom.io.atomic import atomic_folder

# The tokens of core.text, in the words of the tokenizers library: letters and marks, digits, what joins them.
_LETTER, _DIGIT = r"[\p{L}\p{M}]", r"\p{N}"
_TOKEN = (
    rf"(?:{_LETTER}|{_DIGIT}|(?<={_LETTER})['’\-‐‑](?={_LETTER})|(?<={_DIGIT})[.,:](?={_DIGIT}))+"
    r"|[^\p{Z}\p{Cc}\p{Cf}]"
)
_MODULE = "modeling_paraloom.py"


def export_sentence_transformer(encoder: SentenceEncoder, folder: str | Path) -> bool:
    """Write a folder for `SentenceTransformer(folder)`; returns whether it opens without code to trust.

    The average of words alone, or of sub-words, becomes that library's own StaticEmbedding, with a tokeniser that cuts
    as ours does and drops unknown words.  Every other encoder is stored as it is beside `modeling_paraloom.py`, which
    loads it by this library: `SentenceTransformer(folder, trust_remote_code=True)`.
    Raises ConfigError where `folder` is there already and holds something else.

    >>> export_sentence_transformer(load_encoder("encoder"), "exported")    # doctest: +SKIP
    True
    """
    parts = list(encoder.parts.values())
    plain = encoder.spec.parts in (("word",), ("subword",)) and isinstance(parts[0], Average)
    with atomic_folder(folder, "modules.json") as partial:
        if plain:
            _write_static(parts[0], partial)  # type: ignore[arg-type]
            kind = "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"
        else:
            save(encoder, partial / "paraloom")
            source = files("paraloom.embed").joinpath("modeling_paraloom.txt").read_text(encoding="utf-8")
            (partial / _MODULE).write_text(source, encoding="utf-8")
            kind = "modeling_paraloom.ParaloomEncoder"
        _write_json(partial / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
        about = {"model_type": "SentenceTransformer", "__version__": {"paraloom": __version__}}
        _write_json(partial / "config_sentence_transformers.json", {**about, "similarity_fn_name": "cosine"})
        (partial / card.FILE).write_text(card.exported_card(encoder, plain=plain), encoding="utf-8")
    return plain


def word_tokeniser(words: tuple[str, ...]) -> Any:
    """A `tokenizers.Tokenizer` that cuts as core.text.tokens does; word i has id i, unknown words have none.

    Each word is marked at its start, so that a byte-pair model without merges finds whole words or nothing at all.
    """
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise MissingExtraError.for_verb("export", "train") from None

    tokeniser = Tokenizer(models.BPE({f"{MARK}{word}": row for row, word in enumerate(words)}, [], ignore_merges=True))
    tokeniser.normalizer = normalizers.Lowercase()
    tokeniser.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_TOKEN), "removed", invert=True),
            pre_tokenizers.Metaspace(MARK, prepend_scheme="always", split=False),
        ]
    )
    return tokeniser


def subword_tokeniser(vocabulary: SubwordVocabulary) -> Any:
    """A `tokenizers.Tokenizer` that cuts as a SentencePiece model does, with the same ids."""
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise MissingExtraError.for_verb("export", "train") from None

    pieces = list(zip(vocabulary.entries, vocabulary.scores, strict=True))
    tokeniser = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokeniser.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(rf"[\p{{Z}}\p{{Cc}}\x{{200B}}\x{{FEFF}}{MARK}]+"), " "),
            normalizers.Replace(Regex(r"^ +| +$"), ""),
            normalizers.Lowercase(),
        ]
    )
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace(MARK, prepend_scheme="always", split=True)
    return tokeniser


def _write_static(part: Average, folder: Path) -> None:
    from safetensors.numpy import save_file

    vocabulary = part.vocabulary
    if isinstance(vocabulary, SubwordVocabulary):
        tokeniser = subword_tokeniser(vocabulary)
    else:
        tokeniser = word_tokeniser(vocabulary.entries)
    tokeniser.save(str(folder / "tokenizer.json"))
    save_file({"embedding.weight": np.ascontiguousarray(part.vectors)}, folder / "model.safetensors")


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
