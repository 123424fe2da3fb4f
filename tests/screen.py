"""What stands for stderr where a test looks at what a terminal, or a log, would show."""

from __future__ import annotations

import io
import re


class Screen(io.StringIO):
    """Text that says it is a terminal, or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        """What was written, without the terminal's commands."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
