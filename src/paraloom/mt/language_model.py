"""Translation by a language model (decoder only) on CTranslate2: Llama, Mistral, Gemma, Qwen, from a local folder."""

from __future__ import annotations

import json
import math
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from paraloom.core.config import Config, check_range
from paraloom.core.digests import digest, file_digest, signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, RunError, nearest
from paraloom.core.hub import quiet
from paraloom.core.protocols import Variant
from paraloom.core.remote_files import cache_folder
from paraloom.core.seeds import derive_seed
from paraloom.mt.answers import MAX_RATIO, check_answer
from paraloom.mt.checkpoint import PRECISIONS
from paraloom.mt.choice import choose_samples
from paraloom.mt.decoding import Beam, Decoding, Sampling, describe_decoding, parse_decoding
from paraloom.mt.prompts import find_prompt, prompt_for
from paraloom.text.language_names import known_language
from paraloom.text.normalize import normalize

MODEL_TYPES = ("llama", "mistral", "gemma", "gemma2", "gemma3_text", "qwen2", "qwen3")
"""`model_type` in the config.json of the models that are converted."""

LANGUAGE_MODEL_FILE = "language-model.json"
"""File by which a folder is known as a language model that was converted for translation."""

_TOKENIZER = "tokenizer"
_FAILED_TEMPERATURE = 0.5
_BATCH_TOKENS = 4096
_GROUP = 64

# Sentences without a letter in common: what their prompts begin with, all prompts do.
_UNLIKE = ("A", "zwei", "3.", "é", "\u4e2d")

_seeding = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig(Config):
    """Prompt and languages of a language model.

    Args:
        source: Source language: a code such as de, or an English name.
        target: Target language; the same as `source` asks for paraphrases.
        prompt: 'chat', 'plain', 'paraphrase', 'tower', 'translategemma', or a text with `{text}`, `{source}`,
            `{target}`, `{source_code}` and `{target_code}`. Default: by the languages, and whether the tokenizer has a
            chat template.
        system: System message, for a chat template that takes one.
        attempts: How often a sentence is asked for until its answer passes the checks, 1 or more.
        max_ratio: Maximum ratio of the bytes of the longer side to those of the shorter; 0 for no bound.
        answer_tokens: Maximum tokens of an answer; 0: by the length of the sentence.

    Raises:
        ConfigError: A value is out of range.
    """

    source: str = ""
    target: str = ""
    prompt: str = ""
    system: str = ""
    attempts: int = 3
    max_ratio: float = MAX_RATIO
    answer_tokens: int = 0

    def validate(self) -> None:
        check_range(self, "attempts", low=1)
        check_range(self, "max_ratio", "answer_tokens", low=0)
        find_prompt(self.prompt, self.source, self.target)


class LanguageModelTranslator:
    """A language model that translates by a prompt, in the chat template of its tokenizer where there is one.

    Answers are checked: one line for a line, without explanations; one that does not pass is sampled again, then
    rejected. Needs the extra `train`, for the tokenizer.
    """

    def __init__(
        self,
        folder: str | Path,
        decode: str | Decoding | None = None,
        *,
        config: LanguageModelConfig | None = None,
        device: str = "cpu",
    ) -> None:
        self.folder = Path(folder)
        self.decoding: Decoding = (
            Beam(1) if decode is None else parse_decoding(decode) if isinstance(decode, str) else decode
        )
        if getattr(self.decoding, "shortlist", 0):
            raise ConfigError("a language model has no shortlist", remedy="Decode without shortlist=1.")
        self.device = device
        saved = _read(self.folder)
        self._weights = str(saved["weights"])
        self.config = config if config is not None else LanguageModelConfig(**saved["config"])
        self.source = known_language(self.config.source) or self.config.source or None
        self.target = known_language(self.config.target) or self.config.target or None
        self._tokenizer = _tokenizer(self.folder)
        self.chat = bool(self._tokenizer.chat_template) and self.config.prompt != "plain"
        self._prompt = find_prompt(
            self.config.prompt, self.config.source, self.config.target, plain=not self._tokenizer.chat_template
        )
        self._ends: list[str] = list(saved["ends"])
        self._engine: Any = None
        self.checkpoint: Path | None = None
        """The folder that it was converted from, where `load_language_model` did that."""
        self.precision = ""

    @property
    def signature(self) -> str:
        """Digest of the weights and the prompt, and the decoding."""
        return signature(
            "language-model",
            model=self._weights[:12],
            settings=digest([asdict(self.config), self._prompt, self.chat])[:12],
            decode=describe_decoding(self.decoding),
        )

    def with_decoding(self, decode: str | Decoding) -> LanguageModelTranslator:
        """The same model with another decoding, and an engine of its own."""
        other = LanguageModelTranslator(self.folder, decode, config=self.config, device=self.device)
        other.checkpoint, other.precision = self.checkpoint, self.precision
        return other

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """Translate sentences."""
        texts: list[str] = normalize(list(sentences)).to_pylist()
        proposal = self.decoding.proposal or self.decoding
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        waiting = [row for row, text in enumerate(texts) if text]
        for attempt in range(self.config.attempts):
            decoding = proposal
            if attempt and isinstance(proposal, Beam):
                decoding = Sampling(proposal.nbest, _FAILED_TEMPERATURE)
            groups = self._generated([texts[row] for row in waiting], decoding, derive_seed("attempt", seed, attempt))
            failed = []
            for row, group in zip(waiting, groups, strict=True):
                good = [variant for variant in group if not variant.reason]
                variants[row] = good or group[:1]
                if not good:
                    failed.append(row)
            waiting = failed
            if not waiting:
                break
        if self.decoding.proposal is not None:
            languages = self.source, self.target
            variants = [
                group if group[0].reason or not text else choose_samples([group], self.decoding, [text], languages)[0]
                for text, group in zip(texts, variants, strict=True)
            ]
        return variants

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Score given translations."""
        prompts = [self.prompt_tokens(text) for text in normalize(list(sources)).to_pylist()]
        answers = [self._answer_tokens(text) for text in normalize(list(targets)).to_pylist()]
        if not prompts:
            return []
        rows = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
        results = self._guarded("score_batch", rows, max_batch_size=_BATCH_TOKENS, batch_type="tokens")
        scored = zip(results, answers, strict=True)
        return [(math.fsum(result.log_probs[-len(answer) :]), len(answer)) for result, answer in scored]

    def prompt_tokens(self, text: str) -> list[str]:
        """The tokens of the prompt for a sentence, as the model reads them."""
        prompt = prompt_for(self._prompt, text)
        if self.chat:
            system = [{"role": "system", "content": self.config.system}] if self.config.system else []
            messages = [*system, {"role": "user", "content": prompt}]
            try:
                prompt = self._tokenizer.apply_chat_template(
                    messages, add_generation_prompt=True, tokenize=False, enable_thinking=False
                )
            except Exception as error:  # jinja2's errors, and those that templates raise
                raise ModelError(
                    f"the chat template of the tokenizer fails: {error}",
                    file=self.folder,
                    remedy="Leave out the system message, or write prompt = 'plain'.",
                ) from None
            ids = self._tokenizer(prompt, add_special_tokens=False).input_ids
        else:
            if self.config.system:
                prompt = f"{self.config.system}\n{prompt}"
            ids = self._tokenizer(prompt).input_ids
            if ids and ids[-1] == self._tokenizer.eos_token_id:
                ids = ids[:-1]
        tokens: list[str] = self._tokenizer.convert_ids_to_tokens(ids)
        return tokens

    def _answer_tokens(self, text: str) -> list[str]:
        ids = self._tokenizer(text if self.chat else f" {text}", add_special_tokens=False).input_ids
        return [*self._tokenizer.convert_ids_to_tokens(ids), self._ends[0]]

    def _generated(self, texts: list[str], decoding: Decoding, seed: int) -> list[list[Variant]]:
        """The checked answers to sentences, by one decoding."""
        variants: list[list[Variant]] = [[] for _ in texts]
        options = decoding.options()
        penalty = options["length_penalty"]
        engine = self._seeded(seed % 2**31) if decoding.random else None
        prompts = [self.prompt_tokens(text) for text in texts]
        for limit, shared, rows in self._by_limit(texts, prompts):
            prefix = self._shared_prompt if shared else []
            results = self._guarded(
                "generate_batch",
                [prompts[row][len(prefix) :] for row in rows],
                engine=engine,
                static_prompt=prefix or None,
                max_batch_size=_BATCH_TOKENS,
                batch_type="tokens",
                max_length=limit,
                end_token=self._ends,
                include_prompt_in_result=False,
                return_scores=True,
                **options,
            )
            for row, result in zip(rows, results, strict=True):
                variants[row] = [
                    self._checked(texts[row], ids, score, limit, penalty)
                    for ids, score in zip(result.sequences_ids, result.scores, strict=True)
                ]
        return variants

    def _checked(self, text: str, ids: list[int], score: float, limit: int, penalty: float) -> Variant:
        cut = len(ids) >= limit
        tokens = len(ids) + (not cut)
        written = self._tokenizer.decode(ids, skip_special_tokens=True).strip()
        answer = written
        if not self.chat:  # completing a text, a model continues with the next line
            answer, newline, _ = written.partition("\n")
            cut = cut and not newline
        checked = check_answer(text, answer, cut=cut, max_ratio=self.config.max_ratio)
        if checked.reason:
            return Variant("", math.nan, 0, reason=checked.reason)
        whole = checked.text == written
        return Variant(checked.text, score * tokens**penalty if whole else math.nan, tokens)

    @cached_property
    def _shared_prompt(self) -> list[str]:
        """The tokens that prompts begin with, whatever the sentence; the engine reads them once."""
        prompts = [self.prompt_tokens(text) for text in _UNLIKE]
        alike = takewhile(lambda tokens: len(set(tokens)) == 1, zip(*prompts, strict=False))
        return [tokens[0] for tokens in alike]

    def _by_limit(self, texts: list[str], prompts: list[list[str]]) -> Iterator[tuple[int, bool, list[int]]]:
        """Maximum tokens of an answer, whether the prompts begin as usual, and the sentences that this applies to."""
        groups: dict[tuple[int, bool], list[int]] = {}
        prefix = self._shared_prompt
        for row, (text, prompt) in enumerate(zip(texts, prompts, strict=True)):
            # A token has a byte or more, and a translation has rarely twice the characters of its source.
            limit = self.config.answer_tokens or _GROUP * -(-(64 + 2 * len(text)) // _GROUP)
            # The first letters of a sentence may have become part of the token before them.
            shared = bool(prefix) and len(prompt) > len(prefix) and prompt[: len(prefix)] == prefix
            groups.setdefault((limit, shared), []).append(row)
        for (limit, shared), rows in sorted(groups.items()):
            yield limit, shared, rows

    def _seeded(self, seed: int) -> Any:
        """An engine of its own, because CTranslate2 reads its seed only at the first draw of one."""
        import ctranslate2

        with _seeding:
            ctranslate2.set_random_seed(seed)
            engine = self._new_engine()
            engine.generate_batch([self._ends[:1]], sampling_topk=0, max_length=1, min_length=1)
        return engine

    def _new_engine(self) -> Any:
        import ctranslate2

        try:
            return ctranslate2.Generator(str(self.folder), device=self.device, inter_threads=1)
        except (RuntimeError, ValueError) as error:
            raise ModelError(
                f"CTranslate2 cannot load the model: {error}", file=self.folder, remedy="Convert it again."
            ) from None

    def _guarded(self, method: str, rows: Any, *, engine: Any = None, **options: Any) -> Any:
        if engine is None:
            if self._engine is None:
                self._engine = self._new_engine()
            engine = self._engine
        try:
            return getattr(engine, method)(rows, **options)
        except (RuntimeError, ValueError) as error:
            raise RunError(
                f"decoding failed: {error}", remedy="Check that the model folder is complete and that memory suffices."
            ) from None


def load_language_model(
    checkpoint: str | Path,
    decode: str | Decoding | None = None,
    *,
    device: str = "cpu",
    precision: str = "int8",
    **config: Any,
) -> LanguageModelTranslator:
    """Load a language model from a folder of transformers, which is converted once and kept in the cache."""
    settings = LanguageModelConfig(**config)
    checkpoint = Path(checkpoint)
    weights = check_language_model(checkpoint)
    folder = cache_folder() / "language-models" / f"{weights[:16]}-{precision}"
    if not (folder / LANGUAGE_MODEL_FILE).is_file():
        convert_language_model(checkpoint, folder, precision=precision)
    model = LanguageModelTranslator(folder, decode, config=settings, device=device)
    model.checkpoint, model.precision = checkpoint.absolute(), precision
    return model


def is_language_model(folder: str | Path) -> bool:
    """True if a folder has a checkpoint of a language model of a known kind."""
    return _model_type(Path(folder)) in MODEL_TYPES


def check_language_model(checkpoint: Path) -> str:
    """Check that a folder has a language model that can be converted."""
    kind = _model_type(checkpoint)
    if kind not in MODEL_TYPES:
        raise ModelError(
            f"a model of kind '{kind}' is not a known language model{nearest(kind, MODEL_TYPES)}"
            if kind
            else "config.json not found, or without model_type",
            file=checkpoint,
            remedy=f"Name the folder of a model of one of the kinds {', '.join(MODEL_TYPES)}.",
        )
    weights = sorted(checkpoint.glob("*.safetensors"))
    if not weights:
        raise ModelError(
            "no file of safetensors; others are pickled, and reading them could run code",
            file=checkpoint,
            remedy="Save the model once with safetensors: save_pretrained of transformers does.",
        )
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if not (checkpoint / name).is_file():
            raise ModelError(f"{name} not found", file=checkpoint, remedy="Copy all files of the tokenizer, too.")
    return digest([file_digest(path) for path in [*weights, checkpoint / "tokenizer.json"]])


def convert_language_model(
    checkpoint: str | Path, folder: Path, *, precision: str = "int8", config: LanguageModelConfig | None = None
) -> None:
    """Convert a language model of transformers for CTranslate2, with its tokenizer; whole or not at all."""
    checkpoint = Path(checkpoint)
    if precision not in PRECISIONS:
        raise ConfigError(f"unknown precision '{precision}'{nearest(precision, PRECISIONS)}")
    weights = check_language_model(checkpoint)
    try:
        import torch  # noqa: F401
        from ctranslate2.converters import TransformersConverter
    except ImportError:
        raise MissingExtraError.for_verb("converting a checkpoint", "train") from None
    scratch = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    try:
        with quiet():
            TransformersConverter(str(checkpoint)).convert(str(scratch), quantization=precision, force=True)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise ModelError(
            f"the model cannot be converted: {str(error).splitlines()[0] if str(error) else repr(error)}",
            file=checkpoint,
            remedy="Check that the folder is complete.",
        ) from None
    (scratch / _TOKENIZER).mkdir()
    for pattern in ("tokenizer*", "special_tokens_map.json", "chat_template*", "vocab.*", "merges.txt"):
        for path in checkpoint.glob(pattern):
            if path.is_file() and path.suffix != ".py":
                shutil.copyfile(path, scratch / _TOKENIZER / path.name)
    settings = config or LanguageModelConfig(prompt="{text}")
    saved = {"weights": weights, "ends": _ends(checkpoint, scratch), "config": asdict(settings)}
    (scratch / LANGUAGE_MODEL_FILE).write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n", "utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)


def _ends(checkpoint: Path, converted: Path) -> list[str]:
    """The tokens that end an answer: those of the generation settings, and of the tokenizer."""
    tokenizer = _tokenizer(converted)
    ids: list[int] = []
    path = checkpoint / "generation_config.json"
    if path.is_file():
        value = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id")
        ids = value if isinstance(value, list) else [] if value is None else [value]
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ids:
        ids = [*ids, tokenizer.eos_token_id]
    if not ids:
        raise ModelError("the tokenizer has no token for the end of a text", file=checkpoint, remedy="Add eos_token.")
    tokens: list[str] = tokenizer.convert_ids_to_tokens(ids)
    return tokens


def _tokenizer(folder: Path) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise MissingExtraError.for_verb("translating with a language model", "train") from None
    try:
        with quiet():
            return AutoTokenizer.from_pretrained(folder / _TOKENIZER, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"the tokenizer cannot be read: {str(error).splitlines()[0]}", file=folder, remedy="Convert it again."
        ) from None


def _read(folder: Path) -> dict[str, Any]:
    try:
        saved: dict[str, Any] = json.loads((folder / LANGUAGE_MODEL_FILE).read_text(encoding="utf-8"))
        _ = saved["weights"], saved["ends"], saved["config"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"not a converted language model: {error}", file=folder, remedy="Convert the checkpoint again."
        ) from None
    return saved


def _model_type(folder: Path) -> str:
    try:
        return str(json.loads((folder / "config.json").read_text(encoding="utf-8")).get("model_type", ""))
    except (OSError, ValueError, AttributeError):
        return ""
