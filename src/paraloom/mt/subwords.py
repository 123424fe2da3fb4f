"""Joint subwords of a language pair: SentencePiece models in the layout of Marian checkpoints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import ModelError
from paraloom.core.lazy import late

if TYPE_CHECKING:
    import sentencepiece

_train_unigrams = late("paraloom.text.unigrams:train_unigrams")

END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"

SUBWORD_FILES = ("source.spm", "target.spm", "vocab.json")  # Files that `train_subwords` writes


def train_subwords(
    sentences: Iterable[str], folder: Path, *, vocab_size: int = 8000, seed: int = 1, special_tokens: Sequence[str] = ()
) -> None:
    """Train one unigram model (Kudo 2018) on both languages; `<pad>` has the last id, whose embedding stays zero."""
    import sentencepiece

    model = _train_unigrams(
        sentences,
        vocab_size,
        seed,
        eos_id=0,
        unk_id=1,
        eos_piece=END,
        unk_piece=UNKNOWN,
        user_defined_symbols=list(special_tokens),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.spm").write_bytes(model)
    shutil.copyfile(folder / "source.spm", folder / "target.spm")
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocabulary = {pieces.id_to_piece(i): i for i in range(pieces.get_piece_size())}
    vocabulary[PADDING] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def read_vocabulary(folder: Path) -> list[str]:
    """The pieces of vocab.json, by id."""
    vocabulary: dict[str, int] = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return sorted(vocabulary, key=lambda piece: vocabulary[piece])


class Subwords:
    """The SentencePiece models of a translator folder."""

    def __init__(self, folder: Path) -> None:
        self._source = _load(folder / "source.spm")
        self._target = _load(folder / "target.spm")

    def encode(self, sentences: list[str]) -> list[list[str]]:
        """Split source sentences into pieces, `</s>` last; Marian's leading `>>xxx<<` stays one piece."""
        rests = [sentence.partition("<< ")[2] if has_language_tag(sentence) else sentence for sentence in sentences]
        rows: list[list[str]] = self._source.encode(rests, out_type=str)
        for row, sentence in zip(rows, sentences, strict=True):
            row.append(END)
            if has_language_tag(sentence):
                row.insert(0, sentence.partition("<< ")[0] + "<<")
        return rows

    def encode_target(self, sentences: list[str]) -> list[list[str]]:
        rows: list[list[str]] = self._target.encode(sentences, out_type=str)
        for row in rows:
            row.append(END)
        return rows

    def decode(self, rows: list[list[str]]) -> list[str]:
        # SentencePiece takes a batch whose first row is empty for numbers.
        texts = iter(self._target.decode([row for row in rows if row]))
        return [next(texts) if row else "" for row in rows]


def has_language_tag(sentence: str) -> bool:
    """True if a sentence begins with the target language tag of a multilingual Marian model."""
    return sentence.startswith(">>") and "<< " in sentence


def _load(path: Path) -> sentencepiece.SentencePieceProcessor:
    import sentencepiece

    if not path.is_file():
        raise ModelError(
            f"{path.name} not found", file=path.parent, remedy="Copy the whole model folder, or train it again."
        )
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise ModelError(f"{path.name} is not a SentencePiece model: {error}", file=path.parent) from None
