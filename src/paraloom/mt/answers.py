"""Checks that the answer of a language model is the translation of one line, and nothing else."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_RATIO = 4.0  # Default of the bound on the ratio of lengths
MIN_RATIO_BYTES = 60  # Lines and answers of which neither is longer are exempt from the bound on the ratio of lengths


class CheckedAnswer(NamedTuple):
    """An answer that was checked."""

    text: str
    reason: str = ""


def check_answer(source: str, answer: str, *, cut: bool = False, max_ratio: float = MAX_RATIO) -> CheckedAnswer:
    """Remove what a model thought and the label before its answer, and check that one line is left that can be one."""
    text = without_thinking(answer)
    if text is None:
        return CheckedAnswer(answer.strip(), "thinking without an end")
    text = _without_quotes(source, _without_label(source, text))
    return CheckedAnswer(text, _fault(source, text, cut, max_ratio))


def without_thinking(answer: str) -> str | None:
    """An answer without what the model wrote between <think> tags before it; None where they are not closed."""
    text = _THINKING.sub("", answer)
    # Servers that put the opening tag into the prompt send only the closing one.
    text = re.split(r"</think(?:ing)?>", text)[-1]
    return None if re.search(r"<think(?:ing)?>", text) else text.strip()


def _fault(source: str, text: str, cut: bool, max_ratio: float) -> str:
    if not text:
        return "empty answer"
    if cut:
        return "the answer was cut off at its maximum length"
    if len(text.splitlines()) > 1:
        return "more than one line"
    if _REFUSAL.search(text) and not _REFUSAL.search(source):
        return "refusal"
    if _EXPLANATION.search(text) and not _EXPLANATION.search(source):
        return "explanation instead of, or beside, the translation"
    shorter, longer = sorted(len(side.encode()) for side in (source, text))
    if max_ratio and longer > MIN_RATIO_BYTES and longer > max_ratio * shorter:
        return f"a side more than {max_ratio:g} times as long as the other"
    return ""


def _without_label(source: str, text: str) -> str:
    """The text without a label such as "Translation:" or "English:", unless its source begins in the same way."""
    match = _LABEL.match(text)
    return text[match.end() :].strip() if match and not _ANY_LABEL.match(source) else text


def _without_quotes(source: str, text: str) -> str:
    """The text without quotation marks around all of it, unless its source has such marks, too."""
    if len(text) > 1 and (text[0], text[-1]) in _QUOTES and not source.lstrip().startswith(_OPENING):
        inside = text[1:-1]
        if text[0] not in inside and text[-1] not in inside:
            return inside.strip()
    return text


_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_QUOTES = frozenset([('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("'", "'"), ("`", "`")])
_OPENING = ('"', "“", "„", "«", "»", "'", "`", "‚", "‘", "「")
_LABEL = re.compile(r"\**(?:translation|paraphrase|answer|output|[A-Z][a-z]+ translation)\**:\**\s+", re.IGNORECASE)
_ANY_LABEL = re.compile(r"\w+( \w+)?:\s")
_REFUSAL = re.compile(
    r"\bas an ai\b|\bas a (?:large )?language model\b|\b(?:am|'m) unable to (?:translate|assist|help with that)\b"
    r"|\bi (?:can't|cannot|can not|won't) (?:translate|assist|help with (?:that|this))\b"
    r"|\bi (?:can't|cannot|can not|won't) (?:fulfill|comply with) (?:that|this|your) request\b",
    re.IGNORECASE,
)
_EXPLANATION = re.compile(
    r"^(?:sure|certainly|of course)[,!.] .*(?:translat|here)"
    r"|\bhere(?:'s| is| are) (?:the|a|your|one) (?:\w+ )?(?:translat|paraphras|rephras)"
    r"|\bthe (?:translation|sentence|text|phrase) (?:translates|means|can be translated|is translated)\b"
    r"|\btranslates (?:to|as|into)\b|\((?:note|literally|explanation|translation)\b|\b(?:note|explanation):\s",
    re.IGNORECASE,
)
