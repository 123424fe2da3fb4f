"""T5, mT5 and MADLAD-400: the target language is named in the text, as `<2de>` or in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ConfigError
from paraloom.mt.families import folder_settings
from paraloom.mt.families.base import Codec, EncoderDecoder, _codec, read_vocabulary
from paraloom.mt.languages import find_language, model_code, same_language

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase as Tokenizer

_TOKENIZER = (("tokenizer.json", "spiece.model"),)


@dataclass(frozen=True)
class Madlad(EncoderDecoder):
    """MADLAD-400: a token `<2de>` before the text says what to translate it into; the source language is not named."""

    def fits(self, folder: Path) -> bool:
        """True if its tokenizer has the token for English."""
        import sentencepiece

        path = folder / "tokenizer.json"
        if path.is_file():
            return '"<2en>"' in path.read_text(encoding="utf-8")
        path = folder / "spiece.model"
        if not path.is_file():
            return False
        model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        return bool(model.piece_to_id("<2en>") != model.unk_id())

    def check_languages(self, checkpoint: Path, source: str | None, target: str | None) -> None:
        """See `EncoderDecoder.check_languages`; any source language will do."""
        super().check_languages(checkpoint, None, target)

    def open(self, folder: Path, source: str | None, target: str | None) -> Codec:
        """See `EncoderDecoder.open`; any source language will do."""
        settings = folder_settings(folder)
        source, target = source or settings.get("source"), target or settings.get("target")
        token = self._token(target, self.languages(read_vocabulary(folder)), "target")
        before, after = settings["before"], settings["after"]
        return _codec(folder, settings, before, after, (), source, target, prompt=f"{token} ")


@dataclass(frozen=True)
class TaskModel(EncoderDecoder):
    """T5 and mT5: where both languages are known, the task stands in words before the text, else the text alone."""

    def settings(self, checkpoint: Path, tokenizer: Tokenizer, languages: Mapping[str, str]) -> dict[str, Any]:
        """With the prompts that config.json has: by source and target language."""
        config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
        prompts = {}
        for task, settings in (config.get("task_specific_params") or {}).items():
            match = re.fullmatch(r"translation_(\w+)_to_(\w+)", task)
            if match and settings.get("prefix"):
                prompts[f"{match[1]} {match[2]}"] = settings["prefix"]
        return super().settings(checkpoint, tokenizer, languages) | {"prompts": prompts}

    def open(self, folder: Path, source: str | None, target: str | None) -> Codec:
        settings = folder_settings(folder)
        source, target = source or settings.get("source"), target or settings.get("target")
        prompt = self._prompt(settings["prompts"], source, target)
        around = settings["before"], settings["after"], tuple(settings["prefix"])
        return _codec(folder, settings, *around, source, target, prompt=prompt)

    def _prompt(self, prompts: Mapping[str, str], source: str | None, target: str | None) -> str:
        if source is None and target is None:
            return ""
        if source is None or target is None or same_language(source, target):
            raise ConfigError(
                f"a {self.title} model takes a source and a target language, or none of them",
                remedy="Name both, as in NAME?from=en&to=de; none for a model of another task, such as paraphrasing.",
            )
        if prompts:
            pairs = [pair.split() for pair in prompts]
            first = model_code(source, {pair[0]: pair[0] for pair in pairs}, side="source", model=self.title)
            targets = {pair[1]: prompts[" ".join(pair)] for pair in pairs if pair[0] == first}
            return model_code(target, targets, side="target", model=self.title)
        names = []
        for side, text in (("source", source), ("target", target)):
            language = find_language(text)
            if language is None:
                raise ConfigError(f"unknown {side} language '{text}'", remedy="Write a code, such as de or deu.")
            names.append(language.name.partition(" (")[0])
        return f"translate {names[0]} to {names[1]}: "


MADLAD = Madlad("madlad", "MADLAD-400", _TOKENIZER, code=r"<2(\w+)>", float16=False)
T5 = TaskModel("t5", "T5", _TOKENIZER, float16=False)
