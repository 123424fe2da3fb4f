"""The public sentence encoder: loads every kind of model, encodes, compares and saves in one way."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from paraloom.bundled import BUNDLED, ENCODERS
from paraloom.core.errors import ConfigError, DataError, ModelError, imports_of_extra, nearest
from paraloom.core.lazy import late, load_object
from paraloom.core.progress import loading, progress
from paraloom.core.protocols import EncoderLike
from paraloom.embed.average import SentenceEncoder, Vectors, normalize_vectors
from paraloom.embed.store import EXPORTED, is_exported, is_onnx, is_static, load_encoder, model_at, save_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.transformer import CONFIG as TRANSFORMER_CONFIG
from paraloom.embed.transformer import (
    TRAINED,
    SentenceTransformerEncoder,
    TransformerEncoder,
    is_trained_transformer,
    is_transformer,
)
from paraloom.io.atomic import atomic_folder
from paraloom.text.sequences import list_of_strings

if TYPE_CHECKING:
    from paraloom.embed.search import Found

# What an encoder that only encodes does not need.
_load_static: Callable[..., EncoderLike] = late("paraloom.embed.static:load_static")
_onnx_encoder: Callable[..., EncoderLike] = late("paraloom.embed.onnx_encoder:OnnxEncoder")
_search = late("paraloom.embed.search:search")
_train_on_files = late("paraloom.embed.training:train_on_files")


class Encoder:
    """Turns sentences into vectors, by the conventions of sentence-transformers.

    `Encoder.load` opens encoders of Paraloom and models of sentence-transformers and model2vec. The constructor wraps
    any object with `encode`, `dimension` and `signature` (`paraloom.core.protocols.EncoderLike`).

    Args:
        model: What encodes.
        name: Where the model came from, for `repr`.

    Attributes:
        model: What encodes.
        name: Where the model came from; empty if unknown.

    Example:
        >>> encoder = Encoder.load("english")
        >>> encoder.encode(["A cat sleeps.", "A dog runs."]).shape
        (2, 512)
        >>> int(encoder.similarity(["A cat sleeps."], ["The cat is asleep.", "Stocks fell."]).argmax())
        0
    """

    def __init__(self, model: EncoderLike, name: str = "") -> None:
        self.model = model
        self.name = name

    @classmethod
    def load(cls, name: str | Path, threads: int | None = None) -> Encoder:
        """Load an encoder.

        Args:
            name: A folder that Paraloom trained, converted or saved; a folder of model2vec or sentence-transformers;
                the name of a bundled encoder (`english`); or a Hugging Face name, which is downloaded if needed.
            threads: Number of threads of `encode`; all processors by default. The vectors do not depend on it.

        Returns:
            The encoder.

        Raises:
            ModelError: The model is not found, or a file of it is missing or corrupt.
            ConfigError: The model needs the sentence-transformers library, which is not installed.

        Example:
            >>> Encoder.load("english").dimension
            512
        """
        if not isinstance(name, (str, Path)):
            raise TypeError(f"'name' must be the name or folder of an encoder, got {type(name).__name__}")
        return cls(open_encoder(name, threads or available_threads()), str(name))

    @classmethod
    def train(
        cls,
        folder: str | Path,
        *,
        pairs: str | Path | Sequence[str | Path] = (),
        bitext: str | Path | Sequence[str | Path] = (),
        seed: int = 1,
        threads: int | None = None,
        **config: object,
    ) -> Encoder:
        """Train an encoder on paraphrases, or of two or more languages on bitext.

        Interrupted, the same call resumes. `paraloom.train_encoder` is the same as a pipeline, with development tasks.

        Args:
            folder: Folder for the encoder.
            pairs: Pairs in one language that mean the same: a file or several, as `paraloom.read_pairs` takes them.
            bitext: Instead of `pairs`: sentences and their translations, of any languages. The defaults are then
                `paraloom.embed.bilingual.BITEXT_SETTINGS`; a warning says if sides are swapped or in one language.
            seed: Seed of every random choice.
            threads: Number of threads; all processors by default. The vectors do not depend on it.
            **config: Fields of `EncoderConfig`: `spec`, `dimension`, `epochs` …

        Returns:
            The encoder, loaded from the folder.

        Raises:
            ConfigError: Both or neither of `pairs` and `bitext` are given, or a setting is unknown or out of range.
            DataError: No pair can be used, or all pairs have equal sides.

        Example:
            >>> import tempfile
            >>> file = Path(tempfile.mkdtemp()) / "animals.de-en.tsv"
            >>> _ = file.write_text("Ein Hund schläft.\\tA dog sleeps.\\nDie Katze frisst.\\tThe cat eats.\\n")
            >>> Encoder.train(file.parent / "encoder", bitext=file, dimension=16).dimension
            16
        """
        sources, is_bitext = _training_sources(pairs, bitext)
        _train_on_files(sources, is_bitext, folder, config, seed=seed, threads=threads)
        return cls.load(folder, threads)

    @property
    def dimension(self) -> int:
        """Dimension d of the vectors."""
        return self.model.dimension

    @property
    def signature(self) -> str:
        """Name and digest of everything that the vectors depend on, in the style of sacreBLEU.

        Example:
            >>> Encoder.load("english").signature.split("|")[:3]
            ['encoder', 'spec:word,trigram', 'dimension:512']
        """
        return self.model.signature

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"{type(self).__name__}({name}dimension={self.dimension}, signature={self.signature!r})"

    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = 8192,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = False,
    ) -> Vectors:
        """Compute the vectors of sentences.

        Args:
            sentences: n sentences (a list, or anything that iterates over strings, such as an Arrow or pandas
                column), or one string.
            batch_size: Sentences that are passed to the model at a time. It limits memory, not the vectors.
            show_progress_bar: Show progress on stderr.
            normalize_embeddings: Scale every vector to norm 1; zero vectors stay zero.

        Returns:
            float32 `(n, d)`, or `(d,)` for one string. A sentence of unknown words only has a zero vector if the model
            is an average.

        Raises:
            TypeError: `sentences` is neither a string nor a sequence of strings.
            ConfigError: `batch_size` is less than 1.

        Example:
            >>> encoder = Encoder.load("english")
            >>> encoder.encode("A dog runs.").shape
            (512,)
            >>> encoder.encode([]).shape
            (0, 512)
        """
        if batch_size < 1:
            raise ConfigError(f"'batch_size' is {batch_size}; expected 1 or more")
        single = isinstance(sentences, str)
        texts = [sentences] if isinstance(sentences, str) else list_of_strings(sentences)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        with progress("encoding", len(texts), unit="sentences") if show_progress_bar else nullcontext() as advance:
            for start in range(0, len(texts), batch_size):
                batch = texts[start : start + batch_size]
                vectors[start : start + batch_size] = self.model.encode(batch)
                if advance is not None:
                    advance(len(batch))
        if normalize_embeddings:
            vectors = normalize_vectors(vectors)
        return vectors[0] if single else vectors

    def similarity(self, a: str | Sequence[str] | Vectors, b: str | Sequence[str] | Vectors) -> Vectors:
        """Compute the cosine of every sentence or vector in `a` with every one in `b`.

        Args:
            a: n sentences, or vectors `(n, d)`; one sentence or vector counts as n = 1.
            b: m sentences, or vectors `(m, d)`.

        Returns:
            float32 `(n, m)`, -1 to 1; 0 where a vector is zero.

        Raises:
            TypeError: An argument is neither sentences nor vectors.
            DataError: The vectors differ in dimension.

        Example:
            >>> Encoder.load("english").similarity(["A cat sleeps."], ["A cat sleeps.", "Stocks fell."]).shape
            (1, 2)
        """
        x, y = self._unit_vectors(a), self._unit_vectors(b)
        if x.shape[1] != y.shape[1]:
            raise DataError(f"expected vectors of the same dimension, got {x.shape[1]} and {y.shape[1]}")
        cosines: Vectors = x @ y.T
        return cosines

    @overload
    def search(  # type: ignore[overload-overlap]
        self, queries: str, corpus: Sequence[str], k: int = ..., *, vectors: Vectors | None = ...
    ) -> list[Found]: ...

    @overload
    def search(
        self, queries: Sequence[str], corpus: Sequence[str], k: int = ..., *, vectors: Vectors | None = ...
    ) -> list[list[Found]]: ...

    def search(
        self, queries: str | Sequence[str], corpus: Sequence[str], k: int = 5, *, vectors: Vectors | None = None
    ) -> list[Found] | list[list[Found]]:
        """Find the sentences of a corpus that are nearest to each query, by margin; of a single query, by cosine.

        Args:
            queries: One sentence, or several.
            corpus: n sentences to search.
            k: Sentences per query.
            vectors: Vectors `(n, d)` that `encode(corpus)` gives: for a corpus that is searched more than once.

        Returns:
            For each query its k nearest sentences, best first, each with `text`, `cosine` and `row`, from 0; for one
            query, its list alone.

        Raises:
            TypeError: The sentences are not strings.
            ConfigError: `k` is less than 1.
            DataError: The vectors are not those of the corpus.

        Example:
            >>> encoder = Encoder.load("english")
            >>> best, _ = encoder.search("Where is the station?", ["Stocks fell.", "Where is the train station?"], k=2)
            >>> best.text, best.row
            ('Where is the train station?', 1)
        """
        texts = list_of_strings(corpus)
        stored = self.encode(texts) if vectors is None else vectors
        if vectors is not None:
            load_object("paraloom.embed.search:check_stored")(self.encode, texts, stored)
        given = [queries] if isinstance(queries, str) else list_of_strings(queries)
        groups: list[list[Found]] = [[] for _ in given]
        if not texts:
            return groups[0] if isinstance(queries, str) else groups
        hit, result = load_object("paraloom.embed.search:Found"), _search(self.encode(given), stored, k)
        groups = [
            [hit(texts[row], cosine, row) for cosine, row in zip(cosines, rows, strict=True) if row >= 0]
            for cosines, rows in zip(result.cosines.tolist(), result.rows.tolist(), strict=True)
        ]
        return groups[0] if isinstance(queries, str) else groups

    def save(self, folder: str | Path) -> Path:
        """Save the encoder, so that `Encoder.load(folder)` returns the same one.

        Encoders of Paraloom are written file by file; models of other libraries are copied.

        Args:
            folder: Folder for the model; created if needed.

        Returns:
            The folder.

        Raises:
            ConfigError: The folder contains something else, or the model has no way to be saved.

        Example:
            >>> import tempfile
            >>> folder = Encoder.load("english").save(tempfile.mkdtemp() + "/mine")
            >>> Encoder.load(folder).signature == Encoder.load("english").signature
            True
        """
        model, folder = self.model, Path(folder)
        if isinstance(model, SentenceEncoder) and "token" not in model.spec.units:
            return save_encoder(model, folder)
        if isinstance(model, TransformerEncoder):
            return _copy(model.folder, folder, TRANSFORMER_CONFIG)
        source = getattr(model, "folder", None)
        if source is not None and is_trained_transformer(source):
            return _copy(source, folder, TRAINED)
        if isinstance(model, SentenceEncoder) and is_static(self.name):
            return _copy(Path(self.name), folder, "modules.json")
        if hasattr(model, "save"):
            model.save(folder)
            return folder
        raise ConfigError(f"a model of type {type(model).__name__} cannot be saved", remedy="Save it by its own means.")

    def _unit_vectors(self, values: Any) -> Vectors:
        array = np.asarray(values) if hasattr(values, "__array__") else None
        if array is None or array.dtype.kind not in "fiu":
            array = self.encode(values)
        return normalize_vectors(np.atleast_2d(array).astype(np.float32, copy=False))


def _training_sources(
    pairs: str | Path | Sequence[str | Path], bitext: str | Path | Sequence[str | Path]
) -> tuple[list[str | Path], bool]:
    listed = [[value] if isinstance(value, (str, Path)) else list(value) for value in (pairs, bitext)]
    if bool(listed[0]) == bool(listed[1]):
        raise ConfigError(
            "expected either pairs or bitext", remedy="Give paraphrases as 'pairs', or translations as 'bitext'."
        )
    return listed[0] or listed[1], bool(listed[1])


def open_encoder(model: EncoderLike | str | Path, threads: int = 1) -> EncoderLike:
    """Open the model behind an `Encoder`, see `Encoder.load`; one that is open stays as it is."""
    if not isinstance(model, (str, Path)):
        return model
    with loading(f"the encoder {model}"):
        return _open(model, threads)


def _open(model: str | Path, threads: int) -> EncoderLike:
    folder = model_at(model)
    if is_transformer(folder):
        return TransformerEncoder(folder, threads)
    if is_trained_transformer(folder):
        return _trained_transformer(folder, threads)
    if is_static(folder):
        return _load_static(folder, threads)
    if is_exported(folder):
        return load_encoder(folder / EXPORTED, threads)
    if is_onnx(folder):
        return _onnx_encoder(folder, threads)
    if folder.exists() and not (folder / "modules.json").is_file():
        return load_encoder(folder, threads)
    if not folder.exists():
        check_name(str(model))
    return SentenceTransformerEncoder(str(model))


def _trained_transformer(folder: Path, threads: int) -> EncoderLike:
    with imports_of_extra("train", "a transformer in float32"):
        from paraloom.embed.transformer_store import load_transformer
    return load_transformer(folder, threads)


def check_name(name: str) -> None:
    """Raise ModelError for a misspelled folder or bundled name, so that no network is asked for it."""
    path = Path(name)
    if name.startswith((".", "/", "~")) or (len(path.parts) > 1 and path.parent.is_dir()):
        raise ModelError(
            "encoder folder not found", file=name, remedy="Check the path, or name one of `paraloom models`."
        )
    if get_close_matches(name, BUNDLED, n=1):
        raise ModelError(
            f"encoder not found{nearest(name, ENCODERS)}", file=name, remedy="`paraloom models` lists all."
        )


def _copy(source: Path, folder: Path, marker: str) -> Path:
    with atomic_folder(folder, marker) as partial:
        shutil.copytree(source, partial, dirs_exist_ok=True)
    return folder
