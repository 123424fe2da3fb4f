"""Joint sub-words of a language pair: SentencePiece, laid out as Marian checkpoints expect them."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece

from paraloom.core.errors import DataError, ModelError

END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"


def train_subwords(
    sentences: Iterable[str], folder: Path, *, size: int = 8000, seed: int = 1, symbols: Sequence[str] = ()
) -> None:
    """Learn one unigram model over both languages and write it into `folder` as Marian's three files.

    sentences: both sides, in any fixed order.  size: pieces wanted; a small corpus may hold fewer, then all it has.
    symbols: tokens that are one piece each wherever they stand, such as <BT>.
    Writes source.spm and target.spm (the same model) and vocab.json (piece → id, `</s>` 0, `<unk>` 1, `<pad>` last:
    CTranslate2 starts decoding from a zero embedding, which is the frozen row of `<pad>`).
    Raises DataError when there is nothing to learn from.
    """
    sentencepiece.set_random_generator_seed(seed)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            eos_id=0,
            unk_id=1,
            bos_id=-1,
            pad_id=-1,
            eos_piece=END,
            unk_piece=UNKNOWN,
            user_defined_symbols=list(symbols),
            input_sentence_size=500_000,
            shuffle_input_sentence=True,  # of a larger corpus a fair sample, by the seed
            num_threads=1,  # more threads would sum in another order
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise DataError(f"sub-words cannot be learned: {error}", remedy="Give more or longer sentences.") from None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.spm").write_bytes(model.getvalue())
    shutil.copyfile(folder / "source.spm", folder / "target.spm")
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    vocabulary = {pieces.id_to_piece(i): i for i in range(pieces.get_piece_size())}
    vocabulary[PADDING] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


class Subwords:
    """The sub-words of a Marian checkpoint: text to pieces and back, a list of sentences at a time."""

    def __init__(self, folder: Path) -> None:
        self._source = _load(folder / "source.spm")
        self._target = _load(folder / "target.spm")

    def split(self, sentences: list[str]) -> list[list[str]]:
        """Source pieces of each sentence, `</s>` last.

        A leading `>>xxx<<`, which multilingual Marian models take as the language wanted, stays one piece.
        """
        rests = [sentence.partition("<< ")[2] if is_tagged(sentence) else sentence for sentence in sentences]
        rows: list[list[str]] = self._source.encode(rests, out_type=str)
        for row, sentence in zip(rows, sentences, strict=True):
            row.append(END)
            if is_tagged(sentence):
                row.insert(0, sentence.partition("<< ")[0] + "<<")
        return rows

    def split_target(self, sentences: list[str]) -> list[list[str]]:
        """Target pieces of each sentence, `</s>` last."""
        rows: list[list[str]] = self._target.encode(sentences, out_type=str)
        for row in rows:
            row.append(END)
        return rows

    def join(self, rows: list[list[str]]) -> list[str]:
        """Target pieces back to text."""
        texts: list[str] = self._target.decode(rows)
        return texts


def is_tagged(sentence: str) -> bool:
    """Whether a sentence opens with the language tag of a multilingual Marian model.

    >>> is_tagged(">>deu<< Hello."), is_tagged("Hello.")
    (True, False)
    """
    return sentence.startswith(">>") and "<< " in sentence


def _load(path: Path) -> sentencepiece.SentencePieceProcessor:
    if not path.is_file():
        raise ModelError(
            f"{path.name} is missing", file=path.parent, remedy="Copy the model folder whole, or train it again."
        )
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise ModelError(f"{path.name} is not a SentencePiece model: {error}", file=path.parent) from None
