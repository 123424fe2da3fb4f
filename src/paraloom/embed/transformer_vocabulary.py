"""The vocabulary of a small transformer: a large one's tokenizer and embeddings, pruned to the frequent tokens."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.errors import ConfigError, ModelError

SPECIAL_TOKENS = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "bos_token", "eos_token")
"""Roles of special tokens, as tokenizer_config.json names them."""

_WORDS = ("word_embeddings.weight", "embed_tokens.weight", "tok_embeddings.weight", "wte.weight", "shared.weight")
_PREFIXES = ("bert.", "roberta.")


@dataclass(frozen=True)
class TeacherVocabulary:
    """Vocabulary that a small transformer takes over from a large one before any training."""

    tokenizer: dict[str, Any]  # Content of tokenizer.json, without padding and truncation
    special_tokens: dict[str, str]  # Special tokens by role, see `SPECIAL_TOKENS`
    words: Float32s  # float32 `(v, d)`, the embedding of each token

    @property
    def pad_token_id(self) -> int:
        """Id of the padding token; 0 without one."""
        return token_ids(self.tokenizer).get(self.special_tokens.get("pad_token", ""), 0)


def read_teacher(folder: str | Path) -> TeacherVocabulary:
    """Read tokenizer and embeddings of a sentence-transformers model."""
    source = Path(folder)
    if not (source / "modules.json").is_file():
        raise ModelError(
            "not a sentence-transformers model: modules.json not found",
            file=source,
            remedy="Name the folder of a model, as SentenceTransformer(...).save(...) writes it.",
        )
    try:
        modules = json.loads((source / "modules.json").read_text(encoding="utf-8"))
        transformer = source / modules[0]["path"]
        for name in ("tokenizer.json", "model.safetensors"):
            if not (transformer / name).is_file():
                raise ModelError(
                    f"{name} not found; a teacher is read from tokenizer.json and model.safetensors, not from pickles",
                    file=transformer,
                    remedy="Save the model once with a current release: SentenceTransformer(...).save(...).",
                )
        tokenizer = json.loads((transformer / "tokenizer.json").read_text(encoding="utf-8"))
        tokenizer |= {"padding": None, "truncation": None}
        special_tokens = _special_tokens(transformer)
        known = token_ids(tokenizer)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ModelError(f"the teacher cannot be read ({error})", file=source) from error
    words = _embeddings(transformer / "model.safetensors", max(known.values(), default=-1) + 1)
    return TeacherVocabulary(tokenizer, special_tokens, words)


def transformer_config(teacher: str | Path) -> dict[str, Any]:
    """The configuration of the transformer of a sentence-transformers model; empty without one."""
    file = _transformer(Path(teacher)) / "config.json"
    config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return config


def read_weights(teacher: str | Path) -> dict[str, Float32s]:
    """Read the weights of a sentence-transformers model, under the names of a BertModel if it is one."""
    from safetensors.torch import load_file

    # By way of torch, because numpy has no bfloat16.
    tensors = load_file(_transformer(Path(teacher)) / "model.safetensors")
    return {
        next(
            (name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name
        ): value.float().numpy()
        for name, value in tensors.items()
    }


def _transformer(folder: Path) -> Path:
    return folder / str(json.loads((folder / "modules.json").read_text(encoding="utf-8"))[0]["path"])


def token_ids(tokenizer: dict[str, Any]) -> dict[str, int]:
    """Tokens and their ids, special ones included, from the content of a tokenizer.json."""
    vocabulary = tokenizer["model"]["vocab"]
    ids = dict(vocabulary) if isinstance(vocabulary, dict) else {row[0]: i for i, row in enumerate(vocabulary)}
    return ids | {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or []}


def prune(vocabulary: TeacherVocabulary, counts: Ints, size: int) -> TeacherVocabulary:
    """Keep the tokens that occur most often, special tokens, and single characters, so that words still split."""
    model = vocabulary.tokenizer["model"]
    if model.get("type") not in ("WordPiece", "Unigram"):
        raise ConfigError(
            f"a vocabulary of type {model.get('type')} cannot be pruned; expected WordPiece or Unigram",
            remedy="Leave 'vocab_size' at 0.",
        )
    ids = token_ids(vocabulary.tokenizer)
    if len(ids) <= size:
        return vocabulary
    required = _required_tokens(vocabulary.tokenizer, ids, counts)
    if len(required) > size:
        raise ConfigError(
            f"'vocab_size' is {size}, but special tokens and single characters alone are {len(required)}",
            remedy=f"Set it to {len(required)} or more; 0 keeps all {len(ids)}.",
        )
    frequent = sorted(ids.keys() - required, key=lambda token: (-int(counts[ids[token]]), ids[token]))
    kept = sorted(ids[token] for token in [*required, *frequent[: size - len(required)]])
    tokenizer = _renumbered(vocabulary.tokenizer, ids, {old: position for position, old in enumerate(kept)})
    return TeacherVocabulary(tokenizer, vocabulary.special_tokens, vocabulary.words[kept])


def _required_tokens(tokenizer: dict[str, Any], ids: dict[str, int], counts: Ints) -> set[str]:
    model = tokenizer["model"]
    special = {token["content"] for token in tokenizer.get("added_tokens") or []}
    if model["type"] == "WordPiece":
        prefix = model.get("continuing_subword_prefix", "##")
        unknown, single = model["unk_token"], {token for token in ids if len(token.removeprefix(prefix)) == 1}
    else:
        unknown = model["vocab"][model["unk_id"]][0]
        single = {character for token, number in ids.items() if counts[number] for character in token}
    return ids.keys() & {unknown, *special, *single}


def _renumbered(tokenizer: dict[str, Any], ids: dict[str, int], new: dict[int, int]) -> dict[str, Any]:
    """A tokenizer with the tokens whose ids are in `new`, old ids to new ones."""
    tokenizer = copy.deepcopy(tokenizer)
    model = tokenizer["model"]
    if model["type"] == "WordPiece":
        model["vocab"] = {token: new[old] for token, old in model["vocab"].items() if old in new}
    else:
        model["vocab"] = [row for old, row in enumerate(model["vocab"]) if old in new]
        model["unk_id"] = new[model["unk_id"]]
    for token in tokenizer.get("added_tokens") or []:
        token["id"] = new[token["id"]]
    _renumber(tokenizer.get("post_processor") or {}, {token: new[old] for token, old in ids.items() if old in new})
    return tokenizer


def _renumber(processor: dict[str, Any], ids: dict[str, int]) -> None:
    """Write the new ids of special tokens into a post-processor."""
    for part in processor.get("processors") or []:
        _renumber(part, ids)
    for name in ("sep", "cls"):
        if isinstance(processor.get(name), list):
            processor[name][1] = ids[processor[name][0]]
    special = processor.get("special_tokens")
    if isinstance(special, dict):
        for entry in special.values():
            entry["ids"] = [ids[token] for token in entry["tokens"]]


def _special_tokens(transformer: Path) -> dict[str, str]:
    """Special tokens by role, from the two files that state them."""
    tokens: dict[str, str] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (transformer / name).is_file():
            stated = json.loads((transformer / name).read_text(encoding="utf-8"))
            for role in SPECIAL_TOKENS:
                value = stated.get(role)
                value = value.get("content") if isinstance(value, dict) else value
                if isinstance(value, str):
                    tokens[role] = value
    return tokens


def _embeddings(path: Path, size: int) -> Float32s:
    """The embeddings of tokens, which must be `size` or more."""
    from safetensors import SafetensorError, safe_open

    try:
        # By way of torch, because numpy has no bfloat16.
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            word = next((name for name in names if name.endswith(_WORDS)), None)
            if word is None:
                raise ConfigError(
                    f"token embeddings not found in {path}",
                    remedy="The teacher must be a transformer; its embeddings are where the small one starts.",
                )
            words: Float32s = file.get_tensor(word).float().numpy()
    except SafetensorError as error:
        raise ModelError(f"the weights cannot be read ({error})", file=path) from error
    if len(words) < size:
        raise ModelError(f"expected embeddings of {size} tokens, as in tokenizer.json, got {len(words)}", file=path)
    if not np.isfinite(words).all():
        raise ModelError("the token embeddings contain values that are not finite", file=path)
    return words[:size]
