"""Keys and passwords: what no message, log, status or report may show."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import quote

_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE)$", re.IGNORECASE)
"""Names of environment variables that hold a secret."""

_MIN_CHARACTERS = 6  # Of a secret that is looked for in texts; a shorter one is part of too many words

# The password of a URL. A path may have "//" and "@", too, but not a colon between them without a space; and a number
# between colon and slash is a port.
_PASSWORD = re.compile(r"(\w:/{1,2}[^\s/:@\"']*):(?:[^\s/\"']+@|(?!\d+(?:[/\s]|$))[^\s\"'@]+@)")

_hidden: dict[str, None] = {}


def hide(secret: str) -> None:
    """Replace a secret by stars in all that `redacted` returns from now on, also where it is quoted or escaped."""
    for part in (secret, *secret.split()):
        if len(part) >= _MIN_CHARACTERS:
            for form in (part, repr(part)[1:-1], ascii(part)[1:-1], json.dumps(part)[1:-1], quote(part, safe="")):
                _hidden[form] = None


def hide_environment() -> None:
    """Hide the values of environment variables such as AWS_SECRET_ACCESS_KEY and HF_TOKEN."""
    for name, value in os.environ.items():
        if _VARIABLE.search(name):
            hide(value)


def redacted(text: str) -> str:
    """A text in which the passwords of URLs, and secrets of the environment, are replaced by stars."""
    for secret in sorted(_hidden, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, "***")
    return _PASSWORD.sub(r"\1:***@", text) if "@" in text else text


hide_environment()
