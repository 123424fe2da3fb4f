"""n-gram language models: trained by VariKN, read from the ARPA files of any toolkit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.pairs.scoring.language_kernels import hash_table, join, sentence_logprobs
from paraloom.text.tokens import Texts, spellings, token_hash, tokens

FILE = "language_model.safetensors"
BEGIN, END = "<s>", "</s>"
UNKNOWN = ("<unk>", "<UNK>")


@dataclass(frozen=True, eq=False)
class NgramModel:
    """A backed-off n-gram model of lower-cased words (core.text.tokens).

    keys: uint64 (g,), an id for each n-gram of any order: a word's own id, or core.text.ngrams' id of several.
    logprobs, backoffs: float32 (g,), log10 as in ARPA files; the backoff of an n-gram that no longer one begins with
    is 0.  order: the longest n.  digest: of the file it was read from.
    """

    keys: npt.NDArray[np.uint64]
    logprobs: npt.NDArray[np.float32]
    backoffs: npt.NDArray[np.float32]
    order: int
    digest: str = ""

    @property
    def signature(self) -> str:
        """Order, number of n-grams, and the digest of the file."""
        return signature("ngram", order=self.order, ngrams=len(self.keys), digest=self.digest or "none")

    def perplexity(self, texts: Texts) -> npt.NDArray[np.float32]:
        """How surprised the model is by each sentence: 1 (not at all) and up, lower is more fluent.

        float32 (n,): 10 to the mean of -log10 p over the words and the end of the sentence; words that the model
        does not know count as its unknown word.  NaN for a sentence without words.
        """
        lists = tokens(texts)
        begin, end = (np.uint64(token_hash(mark)) for mark in (BEGIN, END))
        sums = sentence_logprobs(lists.ids, lists.offsets, *self._table, self.order, begin, end, self._unknown)
        words = lists.lengths
        return (10 ** (-sums / np.where(words > 0, words + 1, np.nan))).astype(np.float32)

    def measure(self, sentences: list[str]) -> npt.NDArray[np.float32]:
        """`perplexity`, under the name that scorers ask for."""
        return self.perplexity(sentences)

    def save(self, folder: Path) -> None:
        """Write the model into a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, npt.NDArray[Any]] = {"keys": self.keys, "logprobs": self.logprobs, "backoffs": self.backoffs}
        save_file({**arrays, "order": np.array([self.order])}, folder / FILE)

    @classmethod
    def load(cls, path: Path) -> NgramModel:
        """A folder that `save` wrote, or an ARPA file.  Raises ModelError when it is neither."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        if path.is_file():
            return read_arpa(path)
        if not (path / FILE).is_file():
            raise ModelError(f"{FILE} is missing", file=path, remedy="Name a trained language model or an ARPA file.")
        try:
            arrays = load_file(path / FILE)
            order = int(arrays["order"][0])
            return cls(arrays["keys"], arrays["logprobs"], arrays["backoffs"], order, file_digest(path / FILE)[:12])
        except (SafetensorError, KeyError) as error:
            raise ModelError(f"{FILE} is damaged: {error}", file=path, remedy="Train it again.") from None

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        return hash_table(self.keys, self.logprobs, self.backoffs)

    @cached_property
    def _unknown(self) -> np.uint64:
        for mark in UNKNOWN:
            if np.any(self.keys == np.uint64(token_hash(mark))):
                return np.uint64(token_hash(mark))
        raise ModelError(f"the language model has no unknown word ({' or '.join(UNKNOWN)})")


def read_arpa(path: Path) -> NgramModel:
    """Read an ARPA file (KenLM, SRILM, VariKN write them), whose words are lower-cased as core.text has them.

    Raises ModelError that names the line which cannot be read.
    """
    keys: list[int] = []
    logprobs: list[float] = []
    backoffs: list[float] = []
    known: dict[str, int] = {}
    order = 0
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            text = line.strip()
            if text.startswith("\\") and text.endswith("-grams:"):
                order = int(text[1:].partition("-")[0])
                continue
            if not order or not text or text.startswith("\\"):
                continue
            # Words stand between blanks of any kind, so an n-gram line has n + 1 fields, or n + 2 with its backoff.
            parts = text.split()
            try:
                if len(parts) not in (order + 1, order + 2):
                    raise ValueError
                logprobs.append(float(parts[0]))
                backoffs.append(float(parts[-1]) if len(parts) == order + 2 else 0.0)
            except ValueError:
                raise ModelError(
                    f"line {number} is no {order}-gram: {text[:60]!r}", file=path, remedy="Write the ARPA file again."
                ) from None
            keys.append(_key(parts[1 : order + 1], known))
    if not keys:
        raise ModelError("this is no ARPA file: it has no n-grams", file=path)
    return NgramModel(
        np.array(keys, np.uint64),
        np.array(logprobs, np.float32),
        np.array(backoffs, np.float32),
        order,
        file_digest(path)[:12],
    )


def train_language_model(batches: Iterable[Texts], folder: Path, *, order: int = 3) -> NgramModel:
    """Train a Kneser–Ney model by VariKN (Siivola et al. 2007) on sentences, and save it in `folder`.

    batches: of sentences; words are lower-cased.  Nothing is pruned or cut off.  Raises ConfigError when VariKN is
    not installed, DataError when there is no sentence.
    """
    scratch = folder / "checkpoint"
    scratch.mkdir(parents=True, exist_ok=True)
    corpus, arpa = scratch / "corpus.txt", scratch / "model.arpa"
    count = 0
    with corpus.open("w", encoding="utf-8") as stream:
        for batch in batches:
            for words in spellings(batch).to_pylist():
                if words:
                    stream.write(f"{BEGIN} {' '.join(words)} {END}\n")
                    count += 1
    if not count:
        raise DataError("no sentence to train a language model on: the corpus is empty")
    # A process of its own: VariKN writes to the error stream, and when it fails it takes the process down.
    command = [sys.executable, "-m", "paraloom.pairs.scoring.varikn_process", str(corpus), str(arpa), str(order)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 3:
        raise ConfigError("training a language model needs VariKN", remedy="pip install 'paraloom[language]'")
    if done.returncode or not arpa.is_file():
        told = done.stderr.strip().splitlines()[-1:] or ["nothing"]
        raise ModelError(f"VariKN ended with status {done.returncode} and said: {told[0]}", file=corpus)
    read_arpa(arpa).save(folder)
    return NgramModel.load(folder)


def _key(words: list[str], known: dict[str, int]) -> int:
    """The id of an n-gram; `known` keeps the words' own ids."""
    for word in words:
        if word not in known:
            known[word] = token_hash(word)
    ids = np.array([known[word] for word in words], np.uint64)
    return int(join(ids, 0, len(ids)))
