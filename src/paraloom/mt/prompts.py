"""Prompts that ask a language model for a translation, by name, and the numbered form for several lines at a time."""

from __future__ import annotations

import re
from string import Formatter

from paraloom.core.errors import ConfigError, nearest, suggestion
from paraloom.mt.languages import all_languages, find_language
from paraloom.text.language_names import known_language, language_code, language_name

CHAT = "chat"
PARAPHRASE = "paraphrase"
PLAIN = "plain"
JUDGE = "judge"

PROMPTS = {
    CHAT: (
        "Translate the following sentence from {source} into {target}. "
        "Answer with the translation alone, on one line.\n\n{text}"
    ),
    PARAPHRASE: (
        "Say the following {source} sentence in other words, with the same meaning. "
        "Answer with one {source} sentence alone, on one line.\n\n{text}"
    ),
    "rewrite": (
        "Rewrite the following {source} text in other words. Keep its meaning, tone and intention. Copy names, numbers "
        "and placeholders such as A1 as they are, each exactly once. Answer with the new text alone, on one line."
        "\n\n{text}"
    ),
    PLAIN: "{source}: {text}\n{target}:",
    JUDGE: (
        "Do these two sentences say the same? A detail that is lost, added or changed makes a difference. "
        "Answer with one word, Yes or No.\n\n{text}\nAnswer:"
    ),
    "tower": "Translate the following text from {source} into {target}.\n{source}: {text}\n{target}:",
    "translategemma": (
        "You are a professional {source} ({source_code}) to {target} ({target_code}) translator. Your goal is to "
        "accurately convey the meaning and nuances of the original {source} text while adhering to {target} grammar, "
        "vocabulary, and cultural sensitivities. Produce only the {target} translation, without any additional "
        "explanations or commentary. Please translate the following {source} text into {target}:\n\n\n{text}"
    ),
}
"""Name of a prompt → its text."""

_NUMBERED = (
    "Each of the {count} numbered lines is one input. "
    "Answer with {count} lines that have the same numbers, and nothing else."
)
_CODE_LENGTH = 3
_FIELDS = ("text", "source", "target", "source_code", "target_code")
# Codes of ISO 639-1 whose languages no multilingual translator here has, but a language model may.
_FURTHER_NAMES = {
    **{"aa": "Afar", "ab": "Abkhazian", "ae": "Avestan", "an": "Aragonese", "av": "Avaric", "bi": "Bislama"},
    **{"ce": "Chechen", "ch": "Chamorro", "co": "Corsican", "cr": "Cree", "cu": "Church Slavonic", "cv": "Chuvash"},
    **{"dv": "Divehi", "gv": "Manx", "ho": "Hiri Motu", "hz": "Herero", "ia": "Interlingua", "ie": "Interlingue"},
    **{"ii": "Sichuan Yi", "ik": "Inupiaq", "io": "Ido", "iu": "Inuktitut", "kj": "Kwanyama", "kl": "Kalaallisut"},
    **{"kv": "Komi", "kw": "Cornish", "la": "Latin", "lu": "Luba-Katanga", "mh": "Marshallese", "na": "Nauru"},
    **{"nd": "North Ndebele", "ng": "Ndonga", "nr": "South Ndebele", "nv": "Navajo", "oj": "Ojibwa", "os": "Ossetian"},
    **{"pi": "Pali", "rm": "Romansh", "se": "Northern Sami", "sh": "Serbo-Croatian", "to": "Tonga", "ty": "Tahitian"},
    **{"ve": "Venda", "vo": "Volapük", "wa": "Walloon", "za": "Zhuang"},
}


def find_prompt(prompt: str, source: str | None, target: str | None, *, plain: bool = False) -> str:
    if not prompt:
        same = bool(source) and _code(source) == _code(target)
        prompt = PARAPHRASE if same and not plain else PLAIN if plain else CHAT
    if "{" not in prompt and prompt not in PROMPTS:
        raise ConfigError(
            f"unknown prompt '{prompt}'{nearest(prompt, list(PROMPTS))}",
            remedy="Name one of them, or write a text with {text} in it.",
        )
    template = PROMPTS.get(prompt, prompt)
    fields = _checked_fields(template)
    values = {"text": "{text}"}
    for side, language in (("source", source), ("target", target)):
        if fields.isdisjoint((side, f"{side}_code")):
            continue
        if not language:
            raise ConfigError(f"the prompt names the {side} language", remedy=f"Give '{_key(side)}', such as de.")
        values[side], values[f"{side}_code"] = _name_and_code(language, side)
    parts = Formatter().parse(template)
    return "".join(literal + (values[field] if field is not None else "") for literal, field, _, _ in parts)


def _checked_fields(template: str) -> set[str]:
    fields = _fields(template)
    for field in fields:
        if field not in _FIELDS:
            raise ConfigError(f"unknown field '{{{field}}}' of a prompt{nearest(field, _FIELDS)}")
    if "text" not in fields:
        raise ConfigError("the prompt has no {text}", remedy="Write {text} where the sentence goes.")
    return set(fields)


def prompt_for(template: str, text: str) -> str:
    return template.replace("{text}", text, 1)


def prompt_for_lines(template: str, texts: list[str]) -> str:
    """The prompt for several sentences, which are numbered from 1."""
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
    return f"{_NUMBERED.format(count=len(texts))}\n\n{prompt_for(template, numbered)}"


def read_lines(answer: str, count: int) -> list[str] | None:
    """The lines of an answer to `prompt_for_lines`, None unless they are numbered from 1 to `count`."""
    matches = [_LINE.fullmatch(line.strip()) for line in answer.splitlines() if line.strip()]
    lines = [(int(match[1]), match[2]) for match in matches if match]
    if len(lines) != len(matches) or [number for number, _ in lines] != list(range(1, count + 1)):
        return None
    return [text for _, text in lines]


_LINE = re.compile(r"(\d{1,6})[.):]\s*(.*)")


def _code(language: str | None) -> str:
    """The code of a language that is given by a code or in English."""
    return known_language(language or "") or language_code(language) or ""


def _name_and_code(language: str, side: str) -> tuple[str, str]:
    """The English name of a language, as a prompt says it, and its code; names in words are taken as they are."""
    code = _code(language)
    if known_language(code):
        return language_name(code), code
    if (row := find_language(language)) is not None:
        return row.name, row.code
    further = {key.casefold(): (name, key) for key, name in _FURTHER_NAMES.items()}
    further |= {name.casefold(): (name, key) for key, name in _FURTHER_NAMES.items()}
    plain = language.strip()
    if (match := further.get(plain.casefold())) is not None:
        return match
    names = [*(row.name for row in all_languages()), *_FURTHER_NAMES.values()]
    words = {word for name in names for word in name.casefold().split()}
    if " " in plain and words & set(plain.casefold().split()):
        return plain, code
    raise ConfigError(
        f"unknown {side} language '{language}'{suggestion(plain, names) if len(plain) > _CODE_LENGTH else ''}",
        remedy=f"Give '{_key(side)}' as a code such as de, deu or pt-BR, or as an English name; for any other "
        "language, write a prompt that names it, such as prompt='Translate from Klingon into English: {text}'.",
    )


def _key(side: str) -> str:
    """The setting of a reference that names a language."""
    return "from" if side == "source" else "to"


def _fields(template: str) -> list[str]:
    try:
        return [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise ConfigError(
            f"the prompt cannot be read ({error})", remedy="Write braces around names of fields only."
        ) from None
