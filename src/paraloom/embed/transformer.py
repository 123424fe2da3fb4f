"""Transformers of the sentence-transformers library as encoders: run by CTranslate2, or by the library itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.batches import batches_by_length
from paraloom.core.devices import default_device, parse_device
from paraloom.core.digests import file_digest, folder_digest, signature
from paraloom.core.errors import ConfigError, ModelError, imports_of_extra
from paraloom.core.hub import require_hub
from paraloom.embed.average import Vectors
from paraloom.io.atomic import atomic_write, write_text

if TYPE_CHECKING:
    import ctranslate2

CONFIG = "transformer.json"  # The file that identifies a folder of `convert_transformer`: pooling and maximal length

DENSE = "dense.safetensors"
"""A linear layer on top of the pooling, in a folder of `convert_transformer` whose model has one."""

TRAINED = "paraloom.json"  # The file that identifies a folder of `distill_transformer`: signature and training

_BATCH = 32
_GPU_BATCH = 512

_MODULES = ["Transformer", "Pooling"]

_RENAMED_KEYS = {"longest": "max_length"}  # Old name → name of keys in `CONFIG`, for folders that version 0.1 wrote


def convert_transformer(model: str | Path, folder: Path, *, precision: str = "int8") -> None:
    """Convert a sentence-transformers model for `TransformerEncoder`, which is three times as fast on a processor."""
    with imports_of_extra("distill", "a sentence-transformers model"):
        from ctranslate2.converters import TransformersConverter
    source = Path(model)
    if not (source / "modules.json").is_file():
        if source.exists():
            raise ModelError("not a sentence-transformers model: modules.json not found", file=source)
        source = folder / "checkpoint" / "fetched"
        SentenceTransformerEncoder(str(model)).save(source)
    pooling, max_length, transformer, dense = _read_modules(source)
    linear = None if dense is None else _read_dense(dense)
    try:
        converter = TransformersConverter(str(_staged_for_conversion(transformer, folder / "checkpoint" / "source")))
        converter.convert(str(folder / "model"), quantization=precision, force=True)
    except (ValueError, OSError, AttributeError) as error:
        raise ConfigError(f"CTranslate2 cannot run this model: {error}") from None
    shutil.copyfile(transformer / "tokenizer.json", folder / "tokenizer.json")
    (folder / DENSE).unlink(missing_ok=True)
    if linear is not None:
        from safetensors.numpy import save

        with atomic_write(folder / DENSE) as temporary:
            temporary.write_bytes(save(linear))
    config = {"pooling": pooling, "max_length": max_length, "precision": precision, "model": Path(model).name}
    if linear is not None:
        # Only where there is one, so that conversions of other models keep their bytes.
        config["dense"] = True
    write_text(folder / CONFIG, json.dumps(config, indent=1) + "\n")


def is_trained_transformer(folder: str | Path) -> bool:
    """True if a folder was written by `distill_transformer`: one of sentence-transformers that Paraloom trained."""
    return (Path(folder) / TRAINED).is_file() and (Path(folder) / "modules.json").is_file()


def is_transformer(folder: str | Path) -> bool:
    """True if a folder was written by `convert_transformer`."""
    return (Path(folder) / CONFIG).is_file()


class TransformerEncoder:
    """A converted transformer, run by CTranslate2 on $PARALOOM_DEVICE, the processor by default; an `EncoderLike`."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        with imports_of_extra("transformer", "an encoder that is a transformer"):
            from tokenizers import Tokenizer
        self.folder, self.threads = Path(folder), threads
        config = json.loads((self.folder / CONFIG).read_text(encoding="utf-8"))
        self._config: dict[str, Any] = {_RENAMED_KEYS.get(key, key): value for key, value in config.items()}
        self._tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._config["max_length"])
        self._dense = _load_dense(self.folder / DENSE) if self._config.get("dense") else None

    @cached_property
    def signature(self) -> str:
        """Name, pooling and a digest of the weights."""
        weights = file_digest(self.folder / "model" / "model.bin")[:12]
        if self._dense is not None:
            weights = weights[:6] + file_digest(self.folder / DENSE)[:6]
        return signature("transformer", model=self._config["model"], weights=weights, pooling=self._config["pooling"])

    @cached_property
    def dimension(self) -> int:
        return int(self.encode(["a"]).shape[1])

    @cached_property
    def _encoder(self) -> ctranslate2.Encoder:
        import ctranslate2

        device = parse_device(default_device())
        on_processor = device.kind == "cpu"
        return ctranslate2.Encoder(
            str(self.folder / "model"),
            device=device.kind,
            device_index=list(device.indices),
            compute_type="default" if on_processor else "auto",
            inter_threads=self.threads if on_processor else 1,
            intra_threads=1,
        )

    def encode(self, sentences: Sequence[str]) -> Float32s:
        """Encode sentences, truncated to the maximal length of the model."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(sentences))]
        batches = self._batches([len(tokens) for tokens in ids])
        with ThreadPoolExecutor(self.threads) as pool:
            encoded = list(pool.map(lambda batch: self._encode_batch([ids[i] for i in batch]), batches))
        by_length = np.concatenate(encoded) if encoded else np.zeros((0, 1), np.float32)
        if self._dense is not None and encoded:
            by_length = by_length @ self._dense["weight"].T + self._dense["bias"]
        vectors = np.empty_like(by_length)
        vectors[np.concatenate(batches or [np.empty(0, np.int64)])] = by_length
        return vectors

    @property
    def state_dimension(self) -> int:
        return int(self._states([self._tokenizer.encode("a").ids]).shape[2])

    def word_states(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Ints, Vectors]]:
        encodings = self._tokenizer.encode_batch([list(words) for words in sentences], is_pretokenized=True)
        batches = self._batches([len(encoding.ids) for encoding in encodings])

        def encode(batch: Ints) -> list[tuple[Ints, Vectors]]:
            states = self._states([encodings[i].ids for i in batch])
            return [_mean_by_word(encodings[i].word_ids, states[row]) for row, i in enumerate(batch)]

        with ThreadPoolExecutor(self.threads) as pool:
            encoded = list(pool.map(encode, batches))
        of_sentence = {
            i: result
            for batch, results in zip(batches, encoded, strict=True)
            for i, result in zip(batch, results, strict=True)
        }
        return [of_sentence[i] for i in range(len(encodings))]

    def _batches(self, lengths: Sequence[int]) -> list[Ints]:
        return batches_by_length(lengths, _BATCH if self._encoder.device == "cpu" else _GPU_BATCH)

    def _states(self, ids: list[list[int]]) -> Vectors:
        """The last states of n token lists, float32 `(n, tokens of the longest, d)`."""
        states = self._encoder.forward_batch(ids).last_hidden_state
        if self._encoder.device != "cpu":
            import ctranslate2

            # NumPy reads neither the memory of a GPU nor bfloat16.
            states = states.to(ctranslate2.DataType.float32).to_device(ctranslate2.Device.cpu)
        return np.array(states, np.float32)

    def _encode_batch(self, ids: list[list[int]]) -> Float32s:
        states = self._states(ids)
        if self._config["pooling"] == "cls":
            return states[:, 0]
        # Sentences are sorted by length: those of one length are pooled together.
        lengths = np.array([len(tokens) for tokens in ids])
        starts = np.flatnonzero(np.diff(lengths, prepend=-1))
        ends = np.append(starts[1:], len(ids))
        return np.concatenate(
            [states[start:end, : lengths[start]].mean(axis=1) for start, end in zip(starts, ends, strict=True)]
        )


def _mean_by_word(word_ids: Sequence[int | None], states: Vectors) -> tuple[Ints, Vectors]:
    """Positions of words and the mean state of the pieces of each; special tokens belong to no word."""
    pieces = np.array([position for position, word in enumerate(word_ids) if word is not None], np.int64)
    words, first = np.unique(np.array([word for word in word_ids if word is not None], np.int64), return_index=True)
    if not len(words):
        return words, np.zeros((0, states.shape[1]), np.float32)
    means: Vectors = np.add.reduceat(states[pieces], first, axis=0)
    means /= np.diff([*first, len(pieces)])[:, None].astype(np.float32)
    return words, means


class SentenceTransformerEncoder:
    """A model run by the sentence-transformers library on the first device of $PARALOOM_DEVICE; an `EncoderLike`."""

    def __init__(self, model: str) -> None:
        require_hub(model)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ConfigError(
                f"'{model}' needs the sentence-transformers library, which is not installed",
                remedy="Run: pip install 'paraloom[distill]', or name a folder or a bundled encoder such as 'english'.",
            ) from None
        self.name = model
        device = parse_device(default_device()).parts()[0]
        try:
            self._model = SentenceTransformer(model, device=str(device))
        except Exception as error:  # the library raises whatever its loaders raise
            raise ModelError(
                f"sentence-transformers cannot load it: {(str(error) or repr(error)).splitlines()[0].rstrip('.')}",
                file=model,
                remedy="Name a folder, a bundled encoder such as 'english', or a Hugging Face model, which needs a "
                "network when it is first used.",
            ) from None

    @property
    def signature(self) -> str:
        """The name of the model, or the digest of its folder."""
        model = folder_digest(self.name)[:12] if Path(self.name).is_dir() else self.name
        return signature("sentence-transformers", model=model)

    @property
    def dimension(self) -> int:
        # Older releases of the library have only the longer name.
        method = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        return int(method() or 0)

    def encode(self, sentences: Sequence[str]) -> Float32s:
        """Encode n sentences; returns float32 `(n, d)`."""
        vectors = self._model.encode(list(sentences), batch_size=64, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, np.float32)

    def save(self, folder: str | Path) -> None:
        self._model.save(str(folder))


def _read_modules(source: Path) -> tuple[str, int, Path, Path | None]:
    """Pooling, maximal length, and the folders of transformer and linear layer (or None)."""
    try:
        modules = json.loads((source / "modules.json").read_text(encoding="utf-8"))
        kinds = [module["type"].rpartition(".")[2] for module in modules]
        # Vectors are compared by cosine: a last module Normalize changes nothing.
        if (kinds[:-1] if kinds[-1:] == ["Normalize"] else kinds) not in (_MODULES, [*_MODULES, "Dense"]):
            raise ConfigError(
                f"expected the modules Transformer, Pooling and at most one Dense, got {', '.join(kinds)}"
            )
        dense = source / modules[kinds.index("Dense")]["path"] if "Dense" in kinds else None
        transformer = source / modules[0]["path"]
        pooling = _pooling(json.loads((source / modules[1]["path"] / "config.json").read_text(encoding="utf-8")))
        config = json.loads((transformer / "config.json").read_text(encoding="utf-8"))
        # Older releases store the limit beside the model, newer ones in the tokenizer, which may have none.
        max_length = config["max_position_embeddings"]
        for name, key in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            if (transformer / name).is_file():
                limit = json.loads((transformer / name).read_text(encoding="utf-8")).get(key)
                max_length = min(max_length, limit or max_length)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"the configuration of the model cannot be read ({error})", file=source) from None
    if not (transformer / "model.safetensors").is_file():
        raise ModelError(
            "model.safetensors not found; pickled weights are not read, because they can run code",
            file=transformer,
            remedy="Save it once with safetensors: SentenceTransformer(...).save(...).",
        )
    if not (transformer / "tokenizer.json").is_file():
        raise ConfigError(f"tokenizer.json not found in {transformer}")
    return pooling, int(max_length), transformer, dense


def _read_dense(folder: Path) -> dict[str, Float32s]:
    """Weight `(d, width)` and bias `(d,)` of a module Dense without an activation."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        activation = str(config.get("activation_function", "")).rpartition(".")[2]
        if activation != "Identity":
            raise ConfigError(f"expected a linear layer without activation, got {activation or 'an unknown one'}")
        stored = load_file(folder / "model.safetensors")
        weight = stored["linear.weight"].astype(np.float32)
        bias = stored["linear.bias"] if "linear.bias" in stored else np.zeros(len(weight))
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(f"the linear layer of the model cannot be read ({error})", file=folder) from None
    return {"weight": weight, "bias": bias.astype(np.float32)}


def _load_dense(path: Path) -> dict[str, Float32s]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(path)
        return {name: tensors[name] for name in ("weight", "bias")}
    except (OSError, KeyError, SafetensorError) as error:
        raise ModelError(
            f"the linear layer cannot be read ({error})", file=path, remedy="Convert the model again."
        ) from None


def _staged_for_conversion(transformer: Path, staged: Path) -> Path:
    """The transformer's folder with the key in config.json that CTranslate2's converter asks a BERT for."""
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    for path in transformer.iterdir():
        if path.is_file() and path.name != "config.json":
            (staged / path.name).symlink_to(path.absolute())
    config = {"position_embedding_type": "absolute"}
    config |= json.loads((transformer / "config.json").read_text(encoding="utf-8"))
    (staged / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return staged


def _pooling(config: Mapping[str, object]) -> str:
    """`mean` or `cls`, from the configuration of a Pooling module as older and newer releases write it."""
    mode = config.get("pooling_mode")
    if isinstance(mode, str) and mode in ("mean", "cls"):
        return mode
    modes = {
        key.removeprefix("pooling_mode_") for key, value in config.items() if key.startswith("pooling_mode_") and value
    }
    if modes == {"mean_tokens"}:
        return "mean"
    if modes == {"cls_token"}:
        return "cls"
    raise ConfigError(f"expected mean or cls pooling, got {', '.join(sorted(modes)) or 'an unknown one'}")
