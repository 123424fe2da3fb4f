"""Export of an encoder to a folder that the sentence-transformers library loads, with the same vectors."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.errors import imports_of_extra
from paraloom.core.version import __version__
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.store import CARD, EXPORTED, model_card, save_encoder
from paraloom.embed.subwords import SPACE, SubwordVocabulary
from paraloom.io.atomic import atomic_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_OURS, _FIGURES = "library_name|pipeline_tag|tags", "measured|model-index"  # Keys of the front matter
_FRONT = (
    "library_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- sentence-similarity\n- paraloom\n"
)
NEEDS_CODE = (
    "**sentence-transformers opens this folder with `trust_remote_code=True` only.** Its own modules cannot compute "
    "`{spec}`: the folder has code, `modeling_paraloom.py`, which needs `pip install paraloom`. Without running code "
    'of the folder: `paraloom.Encoder.load("path/to/this/folder")`.'
)
RESTORED = "The weights are those of int8, written as float32: cosines differ by 0.002 on average."


def exported_card(card: str, *, note: str = "", trust: bool = False) -> str:
    """The card of an encoder with the front matter and the call of sentence-transformers."""
    front, body = _split(card)
    title, _, rest = body.strip().partition("\n")
    option = ", trust_remote_code=True" if trust else ""
    call = (
        "```python\nfrom sentence_transformers import SentenceTransformer\n\n"
        f'SentenceTransformer("path/to/this/folder"{option}).encode(["A sentence."])\n```'
    )
    return f"---\n{front}{_FRONT}---\n\n" + "\n\n".join(filter(None, (title, note, call, rest.strip()))) + "\n"


def derived_card(card: str, origin: str) -> str:
    """The card of an encoder made from another one, with the licenses and the text of the card of that."""
    front, body = _split(origin, f"{_OURS}|{_FIGURES}")
    demoted = re.sub("^#", "##", body.strip(), flags=re.MULTILINE)
    sources = f"\n## The encoder that this one was made from\n\n{demoted}\n" if demoted else ""
    return f"---\n{front}{card[4:]}{sources}"


def _split(card: str, dropped: str = _OURS) -> tuple[str, str]:
    """Front matter without some keys, by default those that say which library opens the folder, and the text."""
    lines = card.splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        return "", card
    end = next((n for n, line in enumerate(lines) if n and line.strip() == "---"), 0)
    kept, skipping = [], False
    for line in lines[1:end]:
        if line[:1].isalpha():
            skipping = bool(re.match(f"({dropped}):", line))
        if not skipping:
            kept.append(line)
    return "".join(kept), "".join(lines[end + 1 :])


# The tokens of paraloom.text as a regular expression of the tokenizers library: letters and marks, digits, and the
# characters that join them.
_LETTER, _DIGIT = r"[\p{L}\p{M}]", r"\p{N}"
_TOKEN = (
    rf"(?:{_LETTER}|{_DIGIT}|(?<={_LETTER})['’\-‐‑](?={_LETTER})|(?<={_DIGIT})[.,:](?={_DIGIT}))+"
    r"|[^\p{Z}\p{Cc}\p{Cf}]"
)
_MODULE = "modeling_paraloom.py"


def export_sentence_transformer(encoder: SentenceEncoder, folder: str | Path, card: str = "") -> bool:
    """Write a folder for `SentenceTransformer`: a StaticEmbedding if that is equivalent, else with our code."""
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


def word_tokenizer(words: tuple[str, ...]) -> Tokenizer:
    """A `tokenizers.Tokenizer` that splits as `paraloom.text.tokens`, by marked word starts; word i has id i."""
    with imports_of_extra("train", "export"):
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
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


def subword_tokenizer(vocabulary: SubwordVocabulary) -> Tokenizer:
    """A `tokenizers.Tokenizer` that splits as a SentencePiece model does, with the same ids."""
    with imports_of_extra("train", "export"):
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
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


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
