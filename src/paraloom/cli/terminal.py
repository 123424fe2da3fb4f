"""What reaches a terminal: texts of files are shown, the control sequences in them are not obeyed."""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

# All but line breaks, tabs, and the sequences of colors, cursor and erasing that progress bars are made of: the others
# set titles and clipboards, or make the terminal type.
_CONTROLS = re.compile(r"\x1b(?!\[\??[\d;]*[mABCDGHJKhl])|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")


class SafeTerminal:
    """A stream of text that writes control characters as escapes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(shown(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def shown(text: str) -> str:
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def protect_terminals() -> None:
    """Let standard output and standard error, where they are terminals, escape control characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty() and not isinstance(stream, SafeTerminal):
            setattr(sys, name, SafeTerminal(stream))
