"""A transformer of the sentence-transformers library, run by CTranslate2: three times as fast on a processor."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError
from paraloom.io.atomic import atomic_write

CONFIG = "transformer.json"
"""What says that a folder is one of these: pooling and the longest text, in sub-words."""

_BATCH = 32


def convert_transformer(model: str | Path, folder: Path, *, precision: str = "int8") -> None:
    """Put a sentence-transformers model into `folder` for TransformerEncoder.

    model: a folder with modules.json, or a Hugging Face name, which may be fetched.  precision: CTranslate2's, `int8`
    or `float32`; the cosines of int8 stand within a hundredth or two.
    Raises ConfigError where the model is of a kind that CTranslate2 does not run (sentence-transformers itself does:
    embed.sentence_transformer), ModelError where it cannot be read.
    """
    try:
        from ctranslate2.converters import TransformersConverter
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingExtraError.for_verb("a sentence-transformers model", "distill") from None
    source = Path(model)
    if not (source / "modules.json").is_file():
        if source.exists():
            raise ModelError("this is no sentence-transformers model: there is no modules.json", file=source)
        source = folder / "checkpoint" / "fetched"
        try:
            SentenceTransformer(str(model), device="cpu").save(str(source))
        except Exception as error:  # the library raises whatever its loaders raise
            raise ModelError(f"sentence-transformers cannot load it: {error}", file=model) from None
    pooling, longest, transformer = _layout(source)
    try:
        converter = TransformersConverter(str(_as_converted(transformer, folder / "checkpoint" / "source")))
        converter.convert(str(folder / "model"), quantization=precision, force=True)
    except (ValueError, OSError, AttributeError) as error:
        raise ConfigError(f"CTranslate2 does not run this model: {error}") from None
    shutil.copyfile(transformer / "tokenizer.json", folder / "tokenizer.json")
    config = {"pooling": pooling, "longest": longest, "precision": precision, "model": Path(model).name}
    with atomic_write(folder / CONFIG) as temporary:
        temporary.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def is_transformer(folder: str | Path) -> bool:
    """Whether convert_transformer made this folder."""
    return (Path(folder) / CONFIG).is_file()


class TransformerEncoder:
    """A folder of convert_transformer as `core.protocols.EncoderLike`.  threads: how many share the work of `encode`."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        from tokenizers import Tokenizer

        self._folder, self.threads = Path(folder), threads
        self._config: dict[str, Any] = json.loads((self._folder / CONFIG).read_text(encoding="utf-8"))
        self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._config["longest"])

    @cached_property
    def signature(self) -> str:
        """Name, and a digest of the weights."""
        weights = file_digest(self._folder / "model" / "model.bin")[:12]
        return signature("transformer", model=self._config["model"], weights=weights, pooling=self._config["pooling"])

    @cached_property
    def dimension(self) -> int:
        """Width of the vectors."""
        return int(self.encode(["a"]).shape[1])

    @cached_property
    def _encoder(self) -> Any:
        import ctranslate2

        return ctranslate2.Encoder(
            str(self._folder / "model"),
            device="cpu",
            compute_type="default",
            inter_threads=self.threads,
            intra_threads=1,
        )

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 (n, d), each the mean (or the first) of the last states, special tokens included, as trained."""
        ids = [found.ids for found in self._tokenizer.encode_batch(list(sentences))]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        batches = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        with ThreadPoolExecutor(self.threads) as pool:
            found = list(pool.map(lambda batch: self._batch([ids[i] for i in batch]), batches))
        vectors = np.concatenate(found) if found else np.zeros((0, 1), np.float32)
        placed = np.empty_like(vectors)
        placed[order] = vectors
        return placed

    def _batch(self, ids: list[list[int]]) -> npt.NDArray[np.float32]:
        states = np.array(self._encoder.forward_batch(ids).last_hidden_state, np.float32)
        if self._config["pooling"] == "cls":
            return states[:, 0]
        return np.stack([states[i, : len(each)].mean(axis=0) for i, each in enumerate(ids)])


def _layout(source: Path) -> tuple[str, int, Path]:
    """Pooling, the longest text and the transformer's folder, of a model whose modules we know the meaning of."""
    try:
        modules = json.loads((source / "modules.json").read_text(encoding="utf-8"))
        kinds = [module["type"].rpartition(".")[2] for module in modules]
        if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
            raise ConfigError(f"its modules are {', '.join(kinds)}; a transformer and its pooling are expected")
        transformer = source / modules[0]["path"]
        pooling = json.loads((source / modules[1]["path"] / "config.json").read_text(encoding="utf-8"))
        chosen = _pooling(pooling)
        config = json.loads((transformer / "config.json").read_text(encoding="utf-8"))
        # Older releases say it beside the model, newer ones leave it to the tokeniser, which may know no bound.
        longest = config["max_position_embeddings"]
        for name, key in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            if (transformer / name).is_file():
                said = json.loads((transformer / name).read_text(encoding="utf-8")).get(key)
                longest = min(longest, said or longest)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"the model's description cannot be read ({error})", file=source) from None
    if not (transformer / "model.safetensors").is_file():
        raise ModelError(
            "it has no model.safetensors; pickled weights could run code when read",
            file=transformer,
            remedy="Save it once with safetensors: SentenceTransformer(...).save(...).",
        )
    if not (transformer / "tokenizer.json").is_file():
        raise ConfigError("the model has no tokenizer.json")
    return chosen, int(longest), transformer


def _as_converted(transformer: Path, staged: Path) -> Path:
    """The transformer's folder as CTranslate2's converter wants it.

    It asks a BERT how positions are embedded, which newer releases of transformers no longer write down.
    """
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    for path in transformer.iterdir():
        if path.is_file() and path.name != "config.json":
            (staged / path.name).symlink_to(path.absolute())
    config = {"position_embedding_type": "absolute"}
    config |= json.loads((transformer / "config.json").read_text(encoding="utf-8"))
    (staged / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return staged


def _pooling(config: dict[str, Any]) -> str:
    """`mean` or `cls`, from a pooling module's configuration as older and newer releases write it."""
    said = config.get("pooling_mode")
    if isinstance(said, str) and said in ("mean", "cls"):
        return said
    modes = {
        key.removeprefix("pooling_mode_") for key, value in config.items() if key.startswith("pooling_mode_") and value
    }
    if modes == {"mean_tokens"}:
        return "mean"
    if modes == {"cls_token"}:
        return "cls"
    raise ConfigError(f"its pooling is {', '.join(sorted(modes)) or 'unknown'}; mean and cls are known")
