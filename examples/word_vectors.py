"""Make English word vectors that owe nothing to another model, for the papers' trainings to start from.

    PARALOOM_DATA=/path/to/corpora python examples/word_vectors.py -o vectors.txt.gz

Words are counted together with those up to five words away, near ones more, in free English sentences; positive
pointwise mutual information is reduced to 300 dimensions by a truncated singular value decomposition, and all vectors
get length 1. PPDB's pairs of words then train them, as they trained paragram. Some minutes of one core.

References:
    Levy, Goldberg and Dagan 2015, "Improving Distributional Similarity with Lessons Learned from Word Embeddings";
    Halko, Martinsson and Tropp 2011, "Finding Structure with Randomness"; Wieting et al. 2015, "From Paraphrase
    Database to Compositional Paraphrase Model and Back".
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from paraloom.api import train_encoder
from paraloom.embed.encoder import open_encoder
from paraloom.embed.vocabulary import Vocabulary, VocabularyCounter
from paraloom.embed.word_vectors import write_vectors
from paraloom.io import read_lines
from paraloom.text.tokens import tokenize

SENTENCES = "sentences-en"
PPDB = "phrase/ppdb-lexical/ppdb-1.0-xxxl-lexical.pairs.tsv.gz"
CHUNK = 100_000
WINDOW = 5
SMOOTHING = 0.75
DIMENSION = 300
POWER_ITERATIONS = 3


def sentences(data: Path) -> Iterator[list[str]]:
    """Chunks of sentences; captions, which similarity tests are made of, are left out."""
    files = [path for path in sorted((data / SENTENCES).glob("*.txt.*")) if not path.name.startswith("captions")]
    lines = (line for path in files for line in read_lines(path))
    while chunk := list(islice(lines, CHUNK)):
        yield chunk


def vocabulary(data: Path, size: int) -> Vocabulary:
    """The most frequent words of the sentences."""
    counter = VocabularyCounter("word")
    for chunk in sentences(data):
        counter.count(chunk, tokenize(chunk))
    return counter.most_common(size).vocabulary


def cooccurrences(chunks: Iterable[list[str]], words: Vocabulary) -> Any:
    """Counts of words with those up to `WINDOW` words away, 1/d at distance d, sparse `(n, n)`."""
    size = len(words)
    total = sparse.csr_matrix((size, size), dtype=np.float32)
    for chunk in chunks:
        lists = words.row_lists(chunk)
        rows = lists.rows.astype(np.int32)
        sentence = np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))
        pairs, weights = [], []
        for distance in range(1, WINDOW + 1):
            same = sentence[distance:] == sentence[:-distance]
            pairs.append((rows[:-distance][same], rows[distance:][same]))
            weights.append(np.full(len(pairs[-1][0]), 1 / distance, np.float32))
        both = np.concatenate(pairs, axis=1)
        total = total + sparse.coo_matrix((np.concatenate(weights), (both[0], both[1])), (size, size)).tocsr()
    return total + total.T


def mutual_information(counts: Any) -> Any:
    """Positive pointwise mutual information, with context frequencies to the power of .75, sparse `(n, n)`."""
    cells = counts.tocoo()
    of_word = np.asarray(counts.sum(axis=1)).ravel()
    context = of_word**SMOOTHING
    expected = of_word[cells.row] * context[cells.col] / context.sum()
    values = np.log(cells.data / expected)
    kept = values > 0
    return sparse.csr_matrix((values[kept].astype(np.float32), (cells.row[kept], cells.col[kept])), counts.shape)


def reduced(matrix: Any, dimension: int, seed: int = 1) -> npt.NDArray[np.float32]:
    """U √Σ of a randomized singular value decomposition of a symmetric matrix, rows of length 1."""
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[1], dimension + 20)).astype(np.float32)
    for _ in range(POWER_ITERATIONS):
        basis, _ = np.linalg.qr(matrix @ basis)
    values, vectors = np.linalg.eigh(basis.T @ (matrix @ basis))
    order = np.argsort(-np.abs(values))[:dimension]
    factors = basis @ vectors[:, order] * np.sqrt(np.abs(values[order]))
    lengths = np.linalg.norm(factors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = (factors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


def main() -> None:
    """Count, reduce, train on PPDB, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--words", type=int, default=40_000)
    args = parser.parse_args()
    data = Path(os.environ["PARALOOM_DATA"])
    words = vocabulary(data, args.words)
    vectors = reduced(mutual_information(cooccurrences(sentences(data), words)), DIMENSION)
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "counted.txt"
        write_vectors(counted, words.entries, vectors)
        trained = Path(folder) / "trained"
        settings: dict[str, Any] = {
            "spec": "word",
            "dimension": DIMENSION,
            "vector_words": True,
            "two_sided": True,
            "epochs": 5,
        }
        train_encoder(data / PPDB, trained, vectors=counted, **settings)
        encoder = open_encoder(trained)
        write_vectors(args.output, words.entries, encoder.encode(list(words.entries)))


if __name__ == "__main__":
    main()
