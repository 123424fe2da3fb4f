"""Base of the encoder–decoder families: conversion to CTranslate2, checks, and texts as tokens and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from paraloom.core.errors import ConfigError, ModelError, imports_of_extra
from paraloom.mt.families import FOLDER_FILE, folder_settings
from paraloom.mt.languages import language_of, model_code

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from transformers import PreTrainedTokenizerBase as Tokenizer

SOURCE_LIMIT = 256  # Subwords of a sentence that are translated at a time, where the model itself would take more
TARGET_LIMIT = 512  # Subwords of a translation, where the model itself would make more

TOKENIZER_FILE = "tokenizer.json"
SENTENCEPIECE_FILE = "sentencepiece.bpe.model"
_TOKEN_FILES = (TOKENIZER_FILE, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
"""Files of a checkpoint that list its language tokens."""

VOCABULARIES = ("shared_vocabulary.json", "source_vocabulary.json")
"""The vocabulary of a model in the folders that CTranslate2 writes: one of both sides, or one of each."""

_AGAIN = "Download the checkpoint again, with all files of its tokenizer."
_NAMELESS = "madeupword"
_EXAMPLE = "This is a sentence."
_MAX_CHANGE = {"float32": (0.02, 0.005), "float16": (0.2, 0.05), "bfloat16": (0.5, 0.1)}
"""Most that a precision may change the mean log-probability of a token: nats, and a share of it."""

_MAX_CHANGE_INT8 = (2.0, 0.5)  # With weights in int8 or int16: of small random models, too


class Codec(Protocol):
    """Texts as the tokens of a model, and back, for one source and target language."""

    source: str | None
    target: str | None
    prefix: tuple[str, ...]
    max_source: int
    max_target: int
    max_positions: int | None

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        """Normalized source texts as tokens, with those of the language and the end."""

    def encode_target(self, texts: Sequence[str]) -> list[list[str]]:
        """Normalized translations as tokens, without prefix and end."""

    def decode(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """Tokens of translations as texts."""


@dataclass(frozen=True)
class EncoderDecoder:
    """A family of encoder–decoder models that run on CTranslate2."""

    name: str  # Its name in `FAMILIES`
    title: str  # Its name in errors
    # What a checkpoint needs besides config.json and weights: of each group, one file.
    tokenizer_files: tuple[tuple[str, ...], ...]
    code: str = ""  # Regular expression of language tokens, whose group is the code; '' for models without any
    float16: bool = True  # Whether it can run in float16; T5 overflows and gives rubbish (CTranslate2 issue 1560)

    def fits(self, folder: Path) -> bool:
        """True if a checkpoint of one of its model types belongs to it."""
        return True

    def check_files(self, checkpoint: str | Path, names: Sequence[str]) -> None:
        """Check that a checkpoint has a tokenizer."""
        missing = [" or ".join(group) for group in self.tokenizer_files if not set(group) & set(names)]
        if missing:
            raise ModelError(f"{', '.join(missing)} not found: files of the tokenizer", file=checkpoint, remedy=_AGAIN)

    def check_languages(self, checkpoint: Path, source: str | None, target: str | None) -> None:
        """Check that a checkpoint has the languages that are named; only files of its tokenizer are looked at."""
        texts = [path.read_text(encoding="utf-8") for name in _TOKEN_FILES if (path := checkpoint / name).is_file()]
        codes = {match[1]: match[1] for text in texts for match in re.finditer(f'"{self.code}"', text) if self.code}
        for language, side in ((source, "source"), (target, "target")):
            if codes and language is not None:
                self._token(language, codes, side)

    def check_precision(self, precision: str) -> None:
        """Check that it runs in a number format."""
        if not self.float16 and precision.endswith("float16") and "bfloat16" not in precision:
            raise ConfigError(
                f"{self.title} models give rubbish in {precision}: values overflow",
                remedy="Choose bfloat16 or int8_bfloat16 on a GPU, int8 or float32 on a processor.",
            )

    def default_precision(self, kind: str) -> str:
        """The number format for a kind of device: int8 on processors, half precision on GPUs."""
        return "int8" if kind == "cpu" else "float16" if self.float16 else "bfloat16"

    def convert(self, checkpoint: Path, folder: Path, precision: str) -> None:
        """Convert a checkpoint, with its tokenizer, and check the result: language tokens, and one translation."""
        self.check_precision(precision)
        self.check_files(checkpoint, [path.name for path in checkpoint.iterdir()])
        with imports_of_extra("train", "converting a Hugging Face checkpoint"):
            import torch  # noqa: F401
            from transformers import AutoConfig, AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained(checkpoint, local_files_only=True)
        config = AutoConfig.from_pretrained(checkpoint, local_files_only=True)
        tokens = _vocabulary(tokenizer, config.vocab_size, self._added_tokens(tokenizer))
        languages = self.languages(tokens)
        self._check_languages(checkpoint, tokenizer, tokens, languages)
        settings = {"family": self.name, "precision": precision, **self.settings(checkpoint, tokenizer, languages)}
        example = _example(tokenizer, settings, list(languages.values()))
        expected = _run_converter(checkpoint, folder, precision, tokenizer, tokens, example)
        self._check_vocabulary(checkpoint, folder, tokens)
        if hasattr(tokenizer, "backend_tokenizer"):
            tokenizer.backend_tokenizer.save(str(folder / TOKENIZER_FILE))
        else:
            (folder / SENTENCEPIECE_FILE).write_bytes((checkpoint / SENTENCEPIECE_FILE).read_bytes())
        write_settings(folder, settings)
        self._check_use(folder, languages, example, expected)

    def languages(self, tokens: Sequence[str]) -> dict[str, str]:
        """The codes of the languages that a model has, and the token of each."""
        matches = ((re.fullmatch(self.code, token), token) for token in tokens) if self.code else ()
        return {match[1]: token for match, token in matches if match}

    def settings(self, checkpoint: Path, tokenizer: Tokenizer, languages: Mapping[str, str]) -> dict[str, Any]:
        config = {**_read(checkpoint / "config.json"), **_read(checkpoint / "generation_config.json")}
        token = next(iter(languages.values()), "")
        if token and hasattr(tokenizer, "src_lang"):
            tokenizer.src_lang = next(iter(languages))
        plain = tokenizer("a", add_special_tokens=False).input_ids
        full = tokenizer("a").input_ids
        start = next(at for at in range(len(full)) if full[at : at + len(plain)] == plain)
        around = [tokenizer.convert_ids_to_tokens(ids) for ids in (full[:start], full[start + len(plain) :])]
        before, after = (["{source}" if one == token else one for one in side] for side in around)
        forced = config.get("forced_bos_token_id")
        return {
            "before": before,
            "after": after,
            "prefix": [] if forced is None else [tokenizer.convert_ids_to_tokens(forced)],
            "max_positions": config.get("max_position_embeddings"),
            "special": sorted(set(tokenizer.all_special_tokens)),
        }

    def open(self, folder: Path, source: str | None, target: str | None) -> Codec:
        settings = folder_settings(folder)
        source, target = source or settings.get("source"), target or settings.get("target")
        before, after = tuple(settings["before"]), tuple(settings["after"])
        prefix = tuple(settings["prefix"])
        if self.code:
            codes = self.languages(read_vocabulary(folder))
            if "{source}" in (*before, *after):
                token = self._token(source, codes, "source")
                before, after = (tuple(token if one == "{source}" else one for one in side) for side in (before, after))
            if target is not None or not prefix:
                prefix = (self._token(target, codes, "target"),)
        return _codec(folder, settings, before, after, prefix, source, target)

    def _token(self, language: str | None, codes: Mapping[str, str], side: str) -> str:
        if language is None:
            key = "from" if side == "source" else "to"
            raise ConfigError(
                f"{self.title} has {len(codes)} languages, and no {side} language is named",
                remedy=f"Name it: NAME?{key}=de, or {side}='de'.",
            )
        return model_code(language, codes, side=side, model=self.title)

    def _added_tokens(self, tokenizer: object) -> dict[str, int]:
        """Tokens that the tokenizer's vocabulary leaves out."""
        return {}

    def _check_languages(
        self, checkpoint: Path, tokenizer: Tokenizer, tokens: Sequence[str], languages: Mapping[str, str]
    ) -> None:
        """Language tokens that the tokenizer takes for unknown words would be ignored in silence."""
        if not self.code:
            return
        wrong = [token for token in languages.values() if tokens.index(token) != tokenizer.convert_tokens_to_ids(token)]
        if wrong or not languages:
            raise ModelError(
                f"the tokenizer does not have the language tokens of {self.title}"
                + (f", such as {wrong[0]}" if wrong else ""),
                file=checkpoint,
                remedy=f"special_tokens_map.json and tokenizer_config.json list them, or tokenizer.json. {_AGAIN}",
            )

    def _check_vocabulary(self, checkpoint: Path, folder: Path, tokens: Sequence[str]) -> None:
        if list(tokens) != read_vocabulary(folder):
            raise ModelError(
                "the converted vocabulary is not that of the tokenizer",
                file=checkpoint,
                remedy="Install the versions of ctranslate2 and transformers that constraints.txt has.",
            )

    def _check_use(
        self, folder: Path, languages: Mapping[str, str], example: tuple[list[str], list[str]], expected: float
    ) -> None:
        """Translate a line; and compare the probability of an example with that of the checkpoint."""
        import ctranslate2

        pair = [*languages][:2] * 2 if languages else [None, None]
        codec = self.open(folder, pair[0], pair[1])
        engine = ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=1)
        prefix = list(codec.prefix)
        rows = codec.encode([_EXAMPLE])
        (result,) = engine.translate_batch(
            rows, target_prefix=[prefix], beam_size=1, max_decoding_length=16, return_scores=True
        )
        (scored,) = engine.score_batch([example[0]], [example[1]])
        mean = float(np.mean(scored.log_probs))
        nats, part = _MAX_CHANGE.get(folder_settings(folder)["precision"], _MAX_CHANGE_INT8)
        tokens = set(result.hypotheses[0][len(prefix) :])
        rubbish = not math.isfinite(result.scores[0]) or tokens == {"<unk>"}
        if rubbish or not abs(mean - expected) <= nats + part * abs(expected):
            raise ModelError(
                f"the converted model does not score '{_EXAMPLE}' as the checkpoint does: "
                f"{mean:.2f} nats per token, expected {expected:.2f}",
                file=folder,
                remedy="Choose another precision, such as float32; if it does not help, install the versions of "
                "ctranslate2 and transformers that constraints.txt has.",
            )


class TokenizerCodec:
    """Texts as tokens by a tokenizer.json, as its transformers tokenizer makes them."""

    def __init__(self, path: Path, before: Sequence[str], after: Sequence[str], prompt: str = "") -> None:
        with imports_of_extra("train", "a translator of this family"):
            from tokenizers import Tokenizer
        if not path.is_file():
            raise ModelError(f"{path.name} not found", file=path.parent, remedy="Convert the model again.")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises no other class
            raise ModelError(f"{path.name} is damaged: {error}", file=path.parent) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._before, self._after, self._prompt = list(before), list(after), prompt

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        return [[*self._before, *self._pieces(f"{self._prompt}{text}"), *self._after] for text in texts]

    def encode_target(self, texts: Sequence[str]) -> list[list[str]]:
        return [self._pieces(text) for text in texts]

    def decode(self, rows: Sequence[Sequence[str]]) -> list[str]:
        ids = ([self._tokenizer.token_to_id(token) for token in row] for row in rows)
        return [self._tokenizer.decode([one for one in row if one is not None]).strip() for row in ids]

    def _pieces(self, text: str) -> list[str]:
        # One at a time: batches would start threads of their own, beside those that translate.
        pieces: list[str] = self._tokenizer.encode(text, add_special_tokens=False).tokens
        return pieces


class SentencePieceCodec:
    """Texts as tokens by a SentencePiece model."""

    def __init__(self, path: Path, before: Sequence[str], after: Sequence[str], special: Sequence[str]) -> None:
        import sentencepiece

        try:
            self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except (RuntimeError, OSError) as error:
            raise ModelError(
                f"{path.name} is missing or damaged: {error}", file=path.parent, remedy="Convert the model again."
            ) from None
        self._before, self._after, self._special = list(before), list(after), frozenset(special)

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        return [[*self._before, *row, *self._after] for row in self.encode_target(texts)]

    def encode_target(self, texts: Sequence[str]) -> list[list[str]]:
        rows: list[list[str]] = self._pieces.encode(list(texts), out_type=str)
        return rows

    def decode(self, rows: Sequence[Sequence[str]]) -> list[str]:
        # Rows of the embeddings without a token have names that no text has.
        kept = [
            [token for token in row if token not in self._special and not token.startswith(_NAMELESS)] for row in rows
        ]
        return [self._pieces.decode(row).strip() if row else "" for row in kept]


def write_settings(folder: Path, settings: Mapping[str, object]) -> None:
    text = json.dumps(settings, ensure_ascii=False, indent=1) + "\n"
    (folder / FOLDER_FILE).write_text(text, encoding="utf-8")


def read_vocabulary(folder: Path) -> list[str]:
    """The source vocabulary of a converted model, by id."""
    path = next(path for name in VOCABULARIES if (path := folder / name).is_file())
    tokens: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return tokens


def _codec(
    folder: Path,
    settings: Mapping[str, Any],
    before: Sequence[str],
    after: Sequence[str],
    prefix: tuple[str, ...],
    source: str | None,
    target: str | None,
    prompt: str = "",
) -> Codec:
    codec: Any
    if (folder / TOKENIZER_FILE).is_file() or not (folder / SENTENCEPIECE_FILE).is_file():
        codec = TokenizerCodec(folder / TOKENIZER_FILE, before, after, prompt)
    else:
        codec = SentencePieceCodec(folder / SENTENCEPIECE_FILE, before, after, settings["special"])
    codec.source, codec.target, codec.prefix = language_of(source), language_of(target), prefix
    codec.max_positions = settings.get("max_positions")
    positions = codec.max_positions or max(SOURCE_LIMIT, TARGET_LIMIT)
    codec.max_source = min(SOURCE_LIMIT, positions)
    codec.max_target = min(TARGET_LIMIT, positions - len(prefix) - 1)
    opened: Codec = codec
    return opened


def _vocabulary(tokenizer: Tokenizer, size: int, added: Mapping[str, int]) -> list[str]:
    """The token of every row of the embeddings; rows without one get a name that no text has."""
    tokens = [f"{_NAMELESS}{index}" for index in range(size)]
    for token, index in {**tokenizer.get_vocab(), **added}.items():
        if index < size:
            tokens[index] = token
    return tokens


def _example(
    tokenizer: Tokenizer, settings: Mapping[str, Any], languages: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Source and target tokens to score: a sentence, as a translation of itself."""
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(_EXAMPLE, add_special_tokens=False).input_ids)
    before, after = (
        [languages[0] if one == "{source}" else one for one in settings[side]] for side in ("before", "after")
    )
    prefix = settings["prefix"] or (list(languages[1:2]) if "{source}" in settings["before"] else [])
    return [*before, *pieces, *after], [*prefix, *pieces]


def _expected(model: PreTrainedModel, tokens: Sequence[str], example: tuple[list[str], list[str]], end: str) -> float:
    """The mean log-probability of the target tokens of an example, the end included."""
    import torch

    index = {token: number for number, token in enumerate(tokens)}
    unknown = index["<unk>"]
    source, target = ([index.get(token, unknown) for token in row] for row in (example[0], [*example[1], end]))
    shifted = [model.config.decoder_start_token_id, *target[:-1]]
    with torch.no_grad():
        logits = model.eval()(
            input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([shifted]), use_cache=False
        ).logits[0]
    return float(logits.float().log_softmax(-1)[range(len(target)), target].mean())


def _run_converter(
    checkpoint: Path,
    folder: Path,
    precision: str,
    tokenizer: Tokenizer,
    tokens: Sequence[str],
    example: tuple[list[str], list[str]],
) -> float:
    """Convert the weights; returns what the checkpoint's own mean log-probability of the example is."""
    from ctranslate2.converters import TransformersConverter

    class Vocabulary:
        """The tokenizer with the whole vocabulary: CTranslate2 would read it from keys that transformers 5 dropped."""

        special_tokens_map: dict[str, str] = {}  # noqa: RUF012
        num_madeup_words = 0
        # Not every tokenizer has a start, and CTranslate2 needs the name of one.
        bos_token = tokenizer.bos_token or ("<s>" if "<s>" in tokens else tokenizer.eos_token)

        def get_vocab(self) -> dict[str, int]:
            return {token: index for index, token in enumerate(tokens)}

        def __getattr__(self, name: str) -> Any:
            return getattr(tokenizer, name)

    class Converter(TransformersConverter):  # type: ignore[misc]
        def load_model(self, *arguments: Any, **options: Any) -> Any:
            model = super().load_model(*arguments, **options)
            # CTranslate2 reads keys that transformers 5 dropped; the network shows what they were.
            if (encoder := getattr(getattr(model, "model", None), "encoder", None)) is not None:
                model.config.normalize_before = hasattr(encoder, "layer_norm")
                model.config.normalize_embedding = hasattr(encoder, "layernorm_embedding")
            # It scales the outputs of T5 where embeddings are tied, which transformers 5 says of all models.
            if hasattr(model.config, "scale_decoder_outputs"):
                model.config.tie_word_embeddings = model.config.scale_decoder_outputs
            elif model.config.model_type == "mt5":
                model.config.tie_word_embeddings = False
            # Now, because the conversion changes the weights in place.
            expected.append(_expected(model, tokens, example, tokenizer.eos_token))
            return model

        def load_tokenizer(self, *_: Any, **__: Any) -> Vocabulary:
            return Vocabulary()

    expected: list[float] = []
    Converter(str(checkpoint)).convert(str(folder), quantization=precision, force=True)
    return expected[0]


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
