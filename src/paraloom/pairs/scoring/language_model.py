"""n-gram language models: trained here or by VariKN, or read from the ARPA files of any toolkit."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Float32s, Ids
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.pairs.scoring.language_model_kernels import ngram_id, sentence_logprobs
from paraloom.text.buffers import Texts, code_points
from paraloom.text.normalize import normalize
from paraloom.text.token_kernels import build_table
from paraloom.text.tokens import TokenLists, token_hash, token_strings, tokenize

FILE = "language_model.safetensors"
BEGIN, END = "<s>", "</s>"
UNKNOWN = ("<unk>", "<UNK>")


@dataclass(frozen=True, eq=False)
class NgramModel:
    """A back-off n-gram model of lower-cased words, or of characters."""

    # Ids of the n-grams of all orders, uint64 `(g,)`: the id of the word for a unigram, else the id that
    # `paraloom.text.ngrams.ngrams` gives.
    keys: Ids
    logprobs: Float32s  # log10 probabilities, float32 `(g,)`
    backoffs: Float32s  # log10 back-off weights, float32 `(g,)`; 0 for an n-gram that begins no longer one
    order: int  # Maximum order of the n-grams
    units: str = "words"  # 'words', or 'characters' in their original case
    digest: str = ""  # Digest of the file that the model was loaded from

    @property
    def signature(self) -> str:
        """Order, number of n-grams, and the digest of the file; models of words do not name their units, as before."""
        units = {} if self.units == "words" else {"units": self.units}
        return signature("ngram", **units, order=self.order, ngrams=len(self.keys), digest=self.digest or "none")

    def perplexity(self, texts: Texts) -> Float32s:
        """10 to the mean of -log10 p over the words (or characters) and the end; some may be the unknown one."""
        lists = symbols_of(texts, self.units)
        begin, end = (np.uint64(token_hash(mark)) for mark in (BEGIN, END))
        sums = sentence_logprobs(lists.ids, lists.offsets, *self._table, self.order, begin, end, self._unknown)
        words = lists.lengths
        return (10 ** (-sums / np.where(words > 0, words + 1, np.nan))).astype(np.float32)

    def save(self, folder: Path) -> None:
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        numbers = {"keys": self.keys, "order": np.array([self.order])}
        if self.units == "characters":
            numbers["characters"] = np.array([1])
        (folder / FILE).write_bytes(save({**numbers, "logprobs": self.logprobs, "backoffs": self.backoffs}))

    @cached_property
    def _table(self) -> tuple[Ids, Float32s, Float32s]:
        table, positions = build_table(self.keys)
        return (
            table,
            np.append(self.logprobs, np.float32(0))[positions - 1],
            np.append(self.backoffs, np.float32(0))[positions - 1],
        )

    @cached_property
    def _unknown(self) -> np.uint64:
        for mark in UNKNOWN:
            if np.any(self.keys == np.uint64(token_hash(mark))):
                return np.uint64(token_hash(mark))
        raise ModelError(
            f"the language model lacks the unknown word, {' or '.join(UNKNOWN)}",
            remedy="Train it with an unknown word.",
        )


def load_language_model(path: Path) -> NgramModel:
    """Load a language model of any kind, or an ARPA file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if path.is_file():
        return read_arpa(path)
    file = path / FILE
    if not file.is_file():
        raise ModelError(
            f"{FILE} not found",
            file=path,
            remedy="Give a folder that `paraloom train language-model` wrote, or an ARPA file.",
        )
    try:
        arrays = load_file(file)
        if "histories" in arrays:
            raise ModelError(
                "a language model of an earlier release, whose form is no longer read",
                file=path,
                remedy="Train it again, with --force; in a run, remove the folder of its stage.",
            )
        parts = arrays["keys"], arrays["logprobs"], arrays["backoffs"]
        units = "characters" if "characters" in arrays else "words"
        return NgramModel(*parts, int(arrays["order"][0]), units, file_digest(file)[:12])
    except (SafetensorError, KeyError, IndexError) as error:
        raise ModelError(
            f"{FILE} is damaged: {error}", file=path, remedy="Run `paraloom train language-model` again."
        ) from None


def read_arpa(path: Path) -> NgramModel:
    """Read an ARPA file, as KenLM, SRILM and VariKN write them, with lower-cased words."""
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
            # Fields are separated by any white space: n + 1 of them, or n + 2 with a back-off weight.
            parts = text.split()
            try:
                if len(parts) not in (order + 1, order + 2):
                    raise ValueError
                logprobs.append(float(parts[0]))
                backoffs.append(float(parts[-1]) if len(parts) == order + 2 else 0.0)
            except ValueError:
                raise ModelError(
                    f"line {number}: expected a {order}-gram, got {text[:60]!r}",
                    file=path,
                    remedy="Write the ARPA file again.",
                ) from None
            keys.append(_key(parts[1 : order + 1], known))
    if not keys:
        raise ModelError("no n-grams found", file=path, remedy="Give an ARPA file.")
    return NgramModel(
        np.array(keys, np.uint64),
        np.array(logprobs, np.float32),
        np.array(backoffs, np.float32),
        order,
        digest=file_digest(path)[:12],
    )


def symbols_of(texts: Texts, units: str) -> TokenLists:
    """The words or characters that n-grams are made of."""
    if units == "words":
        return tokenize(texts)
    points, offsets = code_points(normalize(texts))
    return TokenLists(points.astype(np.uint64), offsets)


def has_varikn() -> bool:
    """True if VariKN is installed, which trains Kneser–Ney models."""
    return importlib.util.find_spec("varikn") is not None


def train_language_model(batches: Iterable[Texts], folder: Path, *, order: int = 3) -> NgramModel:
    """Train an unpruned Kneser–Ney model with VariKN, and save it (Siivola, Hirsimäki, Virpioja 2007)."""
    scratch = folder / "checkpoint"
    scratch.mkdir(parents=True, exist_ok=True)
    corpus, arpa = scratch / "corpus.txt", scratch / "model.arpa"
    count = 0
    with corpus.open("w", encoding="utf-8") as stream:
        for batch in batches:
            for words in token_strings(batch).to_pylist():
                if words:
                    stream.write(f"{BEGIN} {' '.join(words)} {END}\n")
                    count += 1
    if not count:
        raise DataError("the corpus has no sentences to train a language model on")
    # In a separate process, because VariKN writes to stderr and ends the process when it fails.
    command = [sys.executable, "-m", "paraloom.pairs.scoring.varikn_process", str(corpus), str(arpa), str(order)]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode == 3:
        raise ConfigError(
            "training a language model needs VariKN, which is not installed",
            remedy="Run: pip install 'paraloom[language]'; or train with Witten–Bell smoothing, which needs no extra.",
        )
    if process.returncode or not arpa.is_file():
        message = (process.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"VariKN ended with status {process.returncode}: {message}", file=corpus)
    model = read_arpa(arpa)
    model.save(folder)
    return replace(model, digest=file_digest(folder / FILE)[:12])


def _key(words: list[str], known: dict[str, int]) -> int:
    """The id of an n-gram; `known` caches the ids of words."""
    for word in words:
        if word not in known:
            known[word] = token_hash(word)
    ids = np.array([known[word] for word in words], np.uint64)
    return int(ngram_id(ids, 0, len(ids)))
