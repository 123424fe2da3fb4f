"""The phrase-based translator: trained within seconds on small bitexts, saved as a folder, used like any other."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from paraloom.core.config import Config, base_config, check_range
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.protocols import Variant
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.io import Corpus
from paraloom.mt.decoding import Beam, Decoding, as_decoding
from paraloom.mt.long_texts import as_texts
from paraloom.mt.subwords import Subwords, read_vocabulary, train_subwords
from paraloom.papers.park17 import phrase_kernels as kernels
from paraloom.papers.park17.ngram_model import NgramTable, train_ngrams
from paraloom.papers.park17.phrase_table import PhraseTable, build_table
from paraloom.text.normalize import normalize
from paraloom.text.word_alignment import WordAlignmentConfig

PHRASE_FILE = "phrase-translator.json"
"""The file by which a folder is known as one of a phrase-based translator."""

_ARRAYS = "phrases.npz"
_WORDS = "words.txt"
BEGIN, END, SPACE = "<s>", "</s>", "▁"
# A word with its apostrophe ("'s") or a number behind a point, or one other character; with the space before it.
_WORD = re.compile(r" ?(?:['’.,]?\w+|[^\w\s])")
# Subwords that are translated at a time: the decoder keeps what is covered in 64 bits.
_MAX_SUBWORDS = 60
# Score of a subword that the table does not have and that is copied.
_COPY_SCORE = -1.0


@dataclass(frozen=True, kw_only=True)
class PhraseTranslatorConfig(Config):
    """Settings of a phrase-based translator.  The weights are those that Moses begins with; nothing tunes them.

    Args:
        vocab_size: Subwords of the source; a small bitext yields fewer.  The target is translated into as words.
        max_phrase_length: Subwords or words of a phrase, at most.
        max_translations: Translations of a phrase that are kept.
        tension: Strength of the diagonal prior of the word alignment, 0 or more; low, as word order may differ much.
        table_weight: Weight of each of the four logs of a phrase pair.
        ngram_weight: Weight of the language model.
        distortion_weight: Cost of each subword that a phrase is moved.
        max_distortion: Subwords that may be left out and translated later; 0: translate in the order of the source.
        stack_size: Hypotheses that are kept for each number of translated subwords.

    Raises:
        ConfigError: A value is out of range.
    """

    vocab_size: int = 4000
    max_phrase_length: int = 5
    max_translations: int = 12
    tension: float = 1.0
    table_weight: float = 0.2
    ngram_weight: float = 0.5
    distortion_weight: float = 0.1
    max_distortion: int = 5
    stack_size: int = 12

    def validate(self) -> None:
        check_range(self, "vocab_size", low=8, high=1_000_000)
        check_range(self, "max_phrase_length", low=1, high=10)
        check_range(self, "max_translations", "stack_size", low=1)
        check_range(self, "max_distortion", low=0)
        check_range(self, "tension", "table_weight", "ngram_weight", "distortion_weight", low=0)


def train_phrase_translator(
    source: Sequence[str],
    target: Sequence[str],
    folder: Path,
    config: PhraseTranslatorConfig | None = None,
    *,
    seed: int = 1,
) -> dict[str, Any]:
    """Train a phrase-based translator: subwords, word alignment, a phrase table, and a trigram model of the target.

    The bonus for each subword of a translation, which decides on its length, is set so that the translations of some
    training sentences are as long as their references. See Koehn, Och and Marcu 2003, "Statistical phrase-based
    translation".
    """
    config = config or PhraseTranslatorConfig()
    texts = zip(normalize(source).to_pylist(), normalize(target).to_pylist(), strict=True)
    pairs = [(a, b) for a, b in texts if a and b]
    if len(pairs) < 2:
        raise DataError(f"cannot train on {len(pairs)} pairs with text on both sides", remedy="Give more pairs.")
    train_subwords([text for text, _ in pairs], folder, vocab_size=config.vocab_size, seed=seed)
    subwords = _Vocabulary(read_vocabulary(folder))
    sources = [subwords.numbers(row[:-1]) for row in Subwords(folder).encode([text for text, _ in pairs])]
    rows = [split_words(text) for _, text in pairs]
    words = _Vocabulary([BEGIN, END, *sorted({word for row in rows for word in row})])
    targets = [words.numbers(row) for row in rows]
    (folder / _WORDS).write_text("".join(f"{word}\n" for word in words.pieces), encoding="utf-8")
    table = build_table(
        sources,
        targets,
        max_phrase_length=config.max_phrase_length,
        max_translations=config.max_translations,
        weight=config.table_weight,
        alignment=WordAlignmentConfig(tension=config.tension),
    )
    ngrams = train_ngrams(targets, begin=0, end=1)
    arrays = {f"table_{name}": value for name, value in table._asdict().items()}
    arrays |= {f"ngrams_{name}": np.asarray(value) for name, value in ngrams._asdict().items()}
    np.savez(folder / _ARRAYS, **arrays)
    bonus = _length_bonus(folder, config, pairs)
    _write_settings(folder, config, bonus)
    return {"pairs": len(pairs), "phrases": len(table.scores), "length_bonus": bonus}


class _Vocabulary:
    """Subwords or words, by number; one that is unknown has the first number that no other has."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces
        self._numbers = {piece: number for number, piece in enumerate(pieces)}

    def numbers(self, pieces: Sequence[str]) -> list[int]:
        return [self._numbers.get(piece, len(self.pieces)) for piece in pieces]


def split_words(text: str) -> list[str]:
    """Words and punctuation marks; what follows a space begins with SPACE, so that joining them gives the text."""
    return [SPACE + token[1:] if token[0] == " " else token for token in _WORD.findall(f" {text}")]


def join_words(words: Sequence[str]) -> str:
    """The inverse of `split_words`."""
    return " ".join("".join(words).replace(SPACE, " ").split())


class PhraseTranslator:
    """A phrase-based translator in a folder."""

    def __init__(self, folder: str | Path, decode: str | Decoding = "beam:1") -> None:
        self.folder = Path(folder)
        decoding = as_decoding(decode)
        if not isinstance(decoding, Beam) or decoding.nbest > 1 or decoding.shortlist:
            raise ConfigError(
                "a phrase-based translator has one translation of each sentence, found by beam search",
                remedy="Decode with beam:5, or train another translator.",
            )
        try:
            settings = json.loads((self.folder / PHRASE_FILE).read_text(encoding="utf-8"))
            self._bonus = float(settings.pop("length_bonus"))
            self.config = PhraseTranslatorConfig(**settings)
            with np.load(self.folder / _ARRAYS) as arrays:
                self._table = PhraseTable(*(arrays[f"table_{name}"] for name in PhraseTable._fields))
                ngrams = [arrays[f"ngrams_{name}"] for name in NgramTable._fields]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"not a phrase-based translator ({type(error).__name__})",
                file=self.folder,
                remedy="Train it again with `train-phrase-translator`.",
            ) from None
        self._ngrams = NgramTable(ngrams[0], ngrams[1], ngrams[2], float(ngrams[3]))
        self._subwords = Subwords(self.folder)
        self._source = _Vocabulary(read_vocabulary(self.folder))
        self._words = (self.folder / _WORDS).read_text(encoding="utf-8").split("\n")[:-1]
        self._characters = set("".join(self._words))

    @property
    def signature(self) -> str:
        """Digest of the tables and the settings."""
        parts = (file_digest(self.folder / name) for name in (_ARRAYS, PHRASE_FILE, "vocab.json"))
        return signature("phrases", model="-".join(part[:8] for part in parts))

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """Translate each sentence; the same at any seed."""
        rows = self._subwords.encode(normalize(as_texts(sentences)).to_pylist())
        texts = [join_words(self._translate(row[:-1])) for row in rows]
        return [[Variant(text, math.nan, max(1, len(row)))] for text, row in zip(texts, rows, strict=True)]

    def _translate(self, pieces: list[str]) -> list[str]:
        words: list[str] = []
        for start in range(0, len(pieces), _MAX_SUBWORDS):
            part = pieces[start : start + _MAX_SUBWORDS]
            for number in self._decode(np.array(self._source.numbers(part), np.uint64)):
                piece = part[-1 - number] if number < 0 else self._words[number]
                # What the table does not have is copied if the target could have it, such as names in the same script.
                if number >= 0 or self._characters.issuperset(piece):
                    words.append(piece)
        return words

    def _decode(self, ids: Any) -> list[int]:
        config = self.config
        result, _ = kernels.decode(
            ids,
            *self._table,
            *self._ngrams,
            0,  # BEGIN
            1,  # END
            config.max_phrase_length,
            config.stack_size,
            config.max_distortion,
            config.ngram_weight,
            config.distortion_weight,
            self._bonus,
            _COPY_SCORE,
        )
        numbers: list[int] = result.tolist()
        return numbers


# Sentences by which the length bonus is set, and the bonuses that are tried.
_LENGTH_SAMPLE, _BONUSES = 30, (-0.8, -0.4, 0.0, 0.4, 0.8)


def _length_bonus(folder: Path, config: PhraseTranslatorConfig, pairs: Sequence[tuple[str, str]]) -> float:
    """The bonus under which translations are nearest in length to their references, in characters."""
    step = max(1, len(pairs) // _LENGTH_SAMPLE)
    sample = pairs[::step][:_LENGTH_SAMPLE]
    references = sum(len(reference) for _, reference in sample)
    differences = {}
    for bonus in _BONUSES:
        _write_settings(folder, config, bonus)
        translated = PhraseTranslator(folder).translate([text for text, _ in sample])
        differences[bonus] = abs(sum(len(variants[0].text) for variants in translated) - references)
    return min(differences, key=lambda bonus: differences[bonus])


def _write_settings(folder: Path, config: PhraseTranslatorConfig, bonus: float) -> None:
    values = {"length_bonus": bonus, **vars(config)}
    (folder / PHRASE_FILE).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class TrainPhraseTranslator(PhraseTranslatorConfig, Fit):
    """Trains a phrase-based translator, as Park et al. 2017 use one: in seconds, on some thousand pairs.

    On so few pairs it translates better than a network; on many, `train-translator` does.

    Args:
        bitext: Corpora of pairs; `src` is translated into `tgt`.

    For the other fields see :class:`~paraloom.papers.park17.phrase_translator.PhraseTranslatorConfig`.

    Raises:
        ConfigError: A setting is out of range.
        DataError: When it runs: there are fewer than two pairs.

    Reference:
        Park et al. 2017, §4.1.

    Example:
        >>> TrainPhraseTranslator(bitext=["clean"]).vocab_size
        4000
    """

    sentinel: ClassVar[str] = PHRASE_FILE

    bitext: tuple[Ref, ...]

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the translator; return the numbers of pairs and phrases."""
        source: list[str] = []
        target: list[str] = []
        corpora = [Corpus.open(path) for path in context.paths("bitext")]
        for corpus in corpora:
            for batch in corpus.batches(["src", "tgt"]):
                source += [text or "" for text in batch.column(0).to_pylist()]
                target += [text or "" for text in batch.column(1).to_pylist()]
        config = base_config(PhraseTranslatorConfig, self)
        try:
            return train_phrase_translator(source, target, folder, config, seed=context.seed % 2**31)
        except DataError as error:
            raise error.at(file=corpora[0].folder) from None
