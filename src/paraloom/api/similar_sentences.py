"""Search and mining with an encoder over sentences in memory or in files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

from paraloom.api.mining import mine_translations
from paraloom.api.pair_inputs import as_pairs
from paraloom.api.pairs import Pairs
from paraloom.api.search import mine_lines
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.encoder import Encoder
from paraloom.embed.mining import MARGIN_THRESHOLD, NEIGHBORS
from paraloom.embed.search import Found
from paraloom.io import read_lines, read_shard
from paraloom.text.sequences import list_of_strings


@overload
def search(  # type: ignore[overload-overlap]
    queries: str, corpus: Sequence[str] | str | Path, k: int = ..., *, encoder: EncoderLike | str | Path = ...
) -> list[Found]: ...


@overload
def search(
    queries: Sequence[str], corpus: Sequence[str] | str | Path, k: int = ..., *, encoder: EncoderLike | str | Path = ...
) -> list[list[Found]]: ...


def search(
    queries: str | Sequence[str],
    corpus: Sequence[str] | str | Path,
    k: int = 5,
    *,
    encoder: EncoderLike | str | Path = "english",
) -> list[Found] | list[list[Found]]:
    """Find the sentences of a corpus that are nearest to each query.

    To search one corpus more than once, see `Encoder.search`, which takes its vectors.

    Args:
        queries: One sentence, or several.
        corpus: Sentences to search, or the name of a file with one per line.
        k: Sentences per query.
        encoder: An encoder, its name or folder.

    Returns:
        For each query its k nearest sentences, by their margin, each with `text`, `cosine` and `row`, from 0; for one
        query, its list alone.

    Raises:
        ConfigError: `k` is less than 1.
        DataError: The file does not exist.

    Example:
        >>> search("Where is the station?", ["Stocks fell.", "Where is the train station?"], k=1)[0].row
        1
    """
    sentences = list(read_lines(corpus)) if isinstance(corpus, (str, Path)) else corpus
    model = Encoder.load(encoder) if isinstance(encoder, (str, Path)) else encoder
    if not isinstance(model, Encoder):
        model = Encoder(model)
    return model.search(queries, sentences, k)


def mine(
    sentences: Iterable[str] | str | Path,
    translations: Iterable[str] | str | Path | None = None,
    *,
    encoder: EncoderLike | str | Path | None = None,
    above: float | None = None,
    below: float = 0.99,
    k: int | None = None,
    seed: int = 1,
) -> Pairs:
    """Mine paraphrases from sentences, or translations from the sentences of two languages; best pairs first.

    For files that do not fit in memory, `mine_translations` and `paraloom mine` write the pairs to a file.

    Args:
        sentences: Sentences, or the name of a file with one per line.
        translations: Sentences in another language, or a file of them: their translations are mined.
        encoder: An encoder, its name or folder; of both languages for translations. Default: 'english';
            'multilingual' for translations.
        above: Minimum cosine of paraphrases, 0.8 by default; minimum margin of translations, 1.2 by default.
        below: Maximum cosine of paraphrases.
        k: Pairs of a sentence at most, 5 by default; of translations: neighbors of the margin, 4 by default.
        seed: Seed of the search for paraphrases.

    Returns:
        The pairs, with the columns `cosine` and `score` (the margin, whose order they have); of translations also
        `src_line` and `tgt_line`.

    Raises:
        DataError: The texts have no sentences.
        MissingExtraError: faiss is not installed, and paraphrases, or many translations, are mined.

    Reference:
        Artetxe and Schwenk 2019, "Margin-based parallel corpus mining with multilingual sentence embeddings".

    Example:
        >>> pairs = mine(["A dog runs.", "Stocks fell.", "The dog is running."], above=0.5)
        >>> sorted([pairs[0]["src"], pairs[0]["tgt"]])
        ['A dog runs.', 'The dog is running.']
    """
    with tempfile.TemporaryDirectory() as folder:
        source = _file(sentences, Path(folder) / "sentences.txt")
        if translations is None:
            output = Path(folder) / "pairs.tsv"
            cosine = 0.8 if above is None else above
            mine_lines(
                encoder or "english", source, str(output), above=cosine, below=below, k=5 if k is None else k, seed=seed
            )
            rows = [line.split("\t") for line in list(read_lines(output))[1:]]
            if not rows:
                return _no_pairs(cosine=0.0, score=0.0)
            return as_pairs(
                {
                    "src": [row[0] for row in rows],
                    "tgt": [row[1] for row in rows],
                    "cosine": [float(row[2]) for row in rows],
                    "score": [float(row[3]) for row in rows],
                }
            )
        target = _file(translations, Path(folder) / "translations.txt")
        output = Path(folder) / "pairs.parquet"
        margin = MARGIN_THRESHOLD if above is None else above
        model = encoder or "multilingual"
        mine_translations(model, source, target, output, above=margin, k=NEIGHBORS if k is None else k)
        table = read_shard(output)
        return as_pairs(table) if table.num_rows else _no_pairs(score=0.0, src_line=0, tgt_line=0, cosine=0.0)


def _no_pairs(**columns: float) -> Pairs:
    """Pairs without a row, with the columns that mined ones have."""
    return as_pairs([("a", "b")]).map(lambda row: columns)[:0]


def _file(sentences: Iterable[str] | str | Path, path: Path) -> str | Path:
    if isinstance(sentences, (str, Path)):
        return sentences
    lines = [" ".join(text.split()) for text in list_of_strings(sentences)]
    if not any(lines):
        raise DataError("the texts have no sentences", remedy="Give one sentence or more.")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
