"""Small transformers on disk and in use: a sentence-transformers folder, with what Paraloom knows of its training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from paraloom.core.array_types import Float32s, Int32s, Ints
from paraloom.core.batches import batches_by_length
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ModelError
from paraloom.core.version import __version__
from paraloom.embed.transformer import TRAINED
from paraloom.embed.transformer_network import (
    TransformerNetwork,
    bert_config,
    bert_tensors,
    network_of_bert,
    shape_of_bert,
)
from paraloom.embed.transformer_vocabulary import SPECIAL_TOKENS, TeacherVocabulary
from paraloom.io.atomic import atomic_write, write_text

_BATCH = 64
_POOLING, _DENSE = "1_Pooling", "2_Dense"


class NetworkEncoder:
    """A small transformer run by torch in float32; implements `paraloom.core.protocols.EncoderLike`."""

    def __init__(
        self, network: TransformerNetwork, tokenizer: Mapping[str, object], threads: int = 1, folder: Path | None = None
    ) -> None:
        from tokenizers import Tokenizer

        self.network, self.threads, self.folder = network.eval(), threads, folder
        self.tokenizer = Tokenizer.from_str(json.dumps(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(network.shape.max_length)

    @property
    def dimension(self) -> int:
        return self.network.shape.dimension

    @cached_property
    def signature(self) -> str:
        """Sizes of the network and a digest of the weights."""
        shape = self.network.shape
        weights = "unsaved" if self.folder is None else weights_digest(self.folder)
        return signature("transformer", layers=shape.layers, width=shape.width, weights=weights)

    def encode(self, sentences: Sequence[str]) -> Float32s:
        # A tokenizer without special tokens has none for an empty sentence, of which the mean is not defined.
        ids = [encoding.ids or [0] for encoding in self.tokenizer.encode_batch(list(sentences))]
        batches = batches_by_length([len(tokens) for tokens in ids], _BATCH)
        vectors = np.zeros((len(ids), self.dimension), np.float32)

        def encode_batch(selected: Ints) -> None:
            vectors[selected] = self._encode_batch([ids[i] for i in selected])

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(encode_batch, batches))
        finally:
            torch.set_num_threads(threads)
        return vectors

    def _encode_batch(self, ids: list[list[int]]) -> Float32s:
        with torch.inference_mode():
            vectors: Float32s = self.network(*padded(ids)).numpy()
        return vectors


def padded(ids: Sequence[Sequence[int] | Int32s]) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of n sentences as int64 `(n, t)`, padded with 0, and their number, int64 `(n,)`."""
    lengths = np.array([len(row) for row in ids], np.int64)
    matrix = np.zeros((len(ids), int(lengths.max())), np.int64)
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = np.concatenate([np.asarray(row) for row in ids])
    return torch.from_numpy(matrix), torch.from_numpy(lengths)


def save_transformer(
    network: TransformerNetwork, vocabulary: TeacherVocabulary, folder: Path, training: Mapping[str, object]
) -> None:
    """Write a folder that `Encoder.load` and sentence-transformers open alike; `paraloom.json` is the last file."""
    from safetensors.numpy import save

    shape = network.shape
    dense = {f"linear.{name}": value.detach().float().numpy() for name, value in network.dense.state_dict().items()}
    for path, tensors in (("model.safetensors", bert_tensors(network)), (f"{_DENSE}/model.safetensors", dense)):
        with atomic_write(folder / path) as temporary:
            temporary.write_bytes(save(tensors, {"format": "pt"}))
    roles = {role: vocabulary.special_tokens[role] for role in SPECIAL_TOKENS if role in vocabulary.special_tokens}
    kinds = (("0", "", "Transformer"), ("1", _POOLING, "Pooling"), ("2", _DENSE, "Dense"))
    pooling: dict[str, object] = {"word_embedding_dimension": shape.width, "pooling_mode_mean_tokens": True}
    pooling |= {f"pooling_mode_{name}": False for name in ("cls_token", "max_tokens", "mean_sqrt_len_tokens")}
    files: dict[str, object] = {
        "tokenizer.json": vocabulary.tokenizer,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": shape.max_length,
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            **roles,
        },
        "special_tokens_map.json": roles,
        "config.json": bert_config(shape, vocabulary.pad_token_id),
        "sentence_bert_config.json": {"max_seq_length": shape.max_length, "do_lower_case": False},
        "config_sentence_transformers.json": {"similarity_fn_name": "cosine"},
        f"{_POOLING}/config.json": pooling,
        f"{_DENSE}/config.json": {
            "in_features": shape.width,
            "out_features": shape.dimension,
            "bias": True,
            "activation_function": "torch.nn.modules.linear.Identity",
        },
        "modules.json": [
            {"idx": index, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
            for index, (name, path, kind) in enumerate(kinds)
        ],
    }
    for name, content in files.items():
        write_text(folder / name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    facts = {"signature": NetworkEncoder(network, vocabulary.tokenizer, folder=folder).signature}
    write_text(folder / "README.md", _card(network, facts["signature"], training))
    described = {**facts, "paraloom": __version__, "training": dict(training)}
    write_text(folder / TRAINED, json.dumps(described, indent=1, ensure_ascii=False) + "\n")


def load_transformer(folder: str | Path, threads: int = 1) -> NetworkEncoder:
    """Load a folder of `save_transformer`; neither transformers nor sentence-transformers is needed."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(folder)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        linear = {
            name.removeprefix("linear."): value
            for name, value in load_file(folder / _DENSE / "model.safetensors").items()
        }
        shape = shape_of_bert(config, len(linear["weight"]))
        network = network_of_bert(shape, load_file(folder / "model.safetensors"), linear)
        encoder = NetworkEncoder(network, tokenizer, threads, folder)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelError(
            f"the transformer cannot be read ({str(error).splitlines()[0] if str(error) else type(error).__name__})",
            file=folder,
            remedy="Train or copy the encoder again.",
        ) from error
    if not all(bool(torch.isfinite(value).all()) for value in network.state_dict().values()):
        raise ModelError("the weights contain values that are not finite", file=folder / "model.safetensors")
    return encoder


def weights_digest(folder: Path) -> str:
    """Twelve digits that identify the weights of a folder."""
    digests = [file_digest(folder / name / "model.safetensors")[:6] for name in (".", _DENSE)]
    return "".join(digests)


def _card(network: TransformerNetwork, signature: str, training: Mapping[str, object]) -> str:
    shape = network.shape
    size = sum(value.numel() for value in network.parameters())
    settings = "".join(f"| {name} | {value} |\n" for name, value in training.items())
    return (
        "---\nlibrary_name: sentence-transformers\npipeline_tag: sentence-similarity\n"
        "tags:\n- sentence-similarity\n- paraloom\n---\n\n"
        "# A small sentence encoder\n\n"
        f"A transformer of {shape.layers} layers, {shape.width} wide, {size:,} parameters; "
        f"vectors of {shape.dimension} dimensions; compare them by cosine.\n\n"
        "    paraloom encode FOLDER sentences.txt -o vectors.npy\n\n"
        '```python\nfrom sentence_transformers import SentenceTransformer\n\nSentenceTransformer("FOLDER")'
        '.encode(["A sentence."])\n```\n\n'
        f"| training | |\n|---|---:|\n{settings}\nSignature: `{signature}`\n"
    )
