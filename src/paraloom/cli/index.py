"""Writes commands.json, what the command line reads instead of the code: `python -m paraloom.cli.index`."""

from __future__ import annotations

import json
from typing import Any

from paraloom.cli import registry
from paraloom.cli.front_page import INDEX, MODULES


def build() -> dict[str, dict[str, Any]]:
    """Name of each command → its module, help and parameters, out of the code, all of which is loaded."""
    collected: dict[str, dict[str, object]] = {}
    for module in MODULES:
        for command in registry.commands_in(module):
            parameters = registry.parameters(command)
            for one in parameters:
                if not one.help:
                    raise LookupError(f"{command.name}: {one.name} has no help: write it into the docstring's Args")
            collected[command.name] = {
                "module": module,
                "help": command.text(),
                "parameters": [one.as_dict() for one in parameters],
            }
    return collected


def text() -> str:
    return json.dumps(build(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    INDEX.write_text(text(), encoding="utf-8")
