"""Export of an encoder to a folder that the sentence-transformers library loads, with the same vectors."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.errors import MissingExtraError
from paraloom.core.version import __version__
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.cards import NEEDS_CODE, exported_card
from paraloom.embed.store import CARD, EXPORTED, model_card, save_encoder
from paraloom.embed.subwords import SPACE, SubwordVocabulary
from paraloom.io.atomic import atomic_folder

# The tokens of paraloom.text as a regular expression of the tokenizers library: letters and marks, digits, and the
# characters that join them.
_LETTER, _DIGIT = r"[\p{L}\p{M}]", r"\p{N}"
_TOKEN = (
    rf"(?:{_LETTER}|{_DIGIT}|(?<={_LETTER})['’\-‐‑](?={_LETTER})|(?<={_DIGIT})[.,:](?={_DIGIT}))+"
    r"|[^\p{Z}\p{Cc}\p{Cf}]"
)
_MODULE = "modeling_paraloom.py"


def export_sentence_transformer(encoder: SentenceEncoder, folder: str | Path, card: str = "") -> bool:
    """Write a folder for `SentenceTransformer(folder)`, with the card that the encoder has.

    An average of words alone, or of subwords alone, becomes the library's own StaticEmbedding, with a tokenizer that
    splits as ours does and drops unknown words. Every other encoder is stored unchanged with `modeling_paraloom.py`,
    which loads it with this package: `SentenceTransformer(folder, trust_remote_code=True)`.
    """
    part = encoder.parts[encoder.spec.parts[0]]
    plain = encoder.spec.parts in (("word",), ("subword",)) and isinstance(part, Average)
    with atomic_folder(folder, "modules.json") as partial:
        if isinstance(part, Average) and plain:
            _write_static(part, partial)
            kind = "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding"
        else:
            save_encoder(encoder, partial / EXPORTED, {})
            source = files("paraloom.embed").joinpath("modeling_paraloom.txt").read_text(encoding="utf-8")
            (partial / _MODULE).write_text(source, encoding="utf-8")
            kind = "modeling_paraloom.ParaloomEncoder"
        _write_json(partial / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
        about = {"model_type": "SentenceTransformer", "__version__": {"paraloom": __version__}}
        _write_json(partial / "config_sentence_transformers.json", {**about, "similarity_fn_name": "cosine"})
        card = card or model_card(encoder, encoder.training)
        note = "" if plain else NEEDS_CODE.format(spec=encoder.spec)
        (partial / CARD).write_text(exported_card(card, note=note, trust=not plain), encoding="utf-8")
    return plain


def word_tokenizer(words: tuple[str, ...]) -> Any:
    """A `tokenizers.Tokenizer` that splits as `paraloom.text.tokens` does; word i has id i, unknown words none.

    The start of each word is marked, so that a byte-pair model without merges finds whole words or nothing.
    """
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise MissingExtraError.for_verb("export", "train") from None

    ids = {f"{SPACE}{word}": row for row, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(ids, [], ignore_merges=True))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_TOKEN), "removed", invert=True),
            pre_tokenizers.Metaspace(SPACE, prepend_scheme="always", split=False),
        ]
    )
    return tokenizer


def subword_tokenizer(vocabulary: SubwordVocabulary) -> Any:
    """A `tokenizers.Tokenizer` that splits as a SentencePiece model does, with the same ids."""
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError:
        raise MissingExtraError.for_verb("export", "train") from None

    pieces = list(zip(vocabulary.entries, vocabulary.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(rf"[\p{{Z}}\p{{Cc}}\x{{200B}}\x{{FEFF}}{SPACE}]+"), " "),
            normalizers.Replace(Regex(r"^ +| +$"), ""),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always", split=True)
    return tokenizer


def _write_static(part: Average, folder: Path) -> None:
    from safetensors.numpy import save

    vocabulary = part.vocabulary
    if isinstance(vocabulary, SubwordVocabulary):
        tokenizer = subword_tokenizer(vocabulary)
    else:
        tokenizer = word_tokenizer(vocabulary.entries)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").write_bytes(save({"embedding.weight": np.ascontiguousarray(part.vectors)}))


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
