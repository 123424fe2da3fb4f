"""Options that many commands have: their names, help and completion, said once."""

from __future__ import annotations

from typing import Any

WATCH = "Watch a long run"
LANGUAGE = "Language of the {} side, such as {}."

TRANSLATOR = (
    "A bundled name such as de-en, a folder, OWNER/NAME of Hugging Face, or the address of an endpoint; with settings "
    "as 'NAME?from=de&to=en', 'http://127.0.0.1:8000/v1?model=qwen3&from=de&to=en'."
)
SHARED: dict[str, dict[str, Any]] = {
    "output": {"flags": ["--output", "-o"], "role": "output", "help": "Where to write; the suffix decides the format."},
    "as_json": {"flags": ["--json"], "help": "Print figures as JSON."},
    "force": {"help": "Replace the output if it exists, even if it is up to date."},
    "pairs": {
        "flags": [],
        "kind": "text",
        "repeated": True,
        "role": "pairs",
        "metavar": "PAIRS",
        "help": "Pairs: a corpus folder, a file with both sides, PREFIX.{de,en}, or a file of each side.",
    },
    "translator": {"role": "translator", "kind": "text", "complete": "complete_translator", "help": TRANSLATOR},
    "reverse_translator": {"role": "translator", "kind": "text", "complete": "complete_translator"},
    "target_translator": {"role": "translator", "kind": "text", "complete": "complete_translator"},
    "paraphraser": {"role": "paraphraser", "kind": "text", "complete": "complete_paraphraser"},
    "encoder": {
        "role": "encoder",
        "kind": "text",
        "complete": "complete_encoder",
        "help": "A bundled name such as english, a folder, or a sentence-transformers model.",
    },
    "decode": {"complete": "complete_decoding"},
    "order": {"help": "strict: both in the same order; local: passages of one may be moved or missing."},
    "seed": {"help": "Seed of every random choice."},
    "workers": {"help": "Processes; default: one per core. The result is the same."},
    "engine": {"help": "local, inline, or ray (pip install 'paraloom[cluster]')."},
    "on_error": {
        "choices": ("stop", "reject"),
        "kind": "choice",
        "help": "Stop at a row that cannot be read or processed, or reject it into OUTPUT.rejected.jsonl, with the "
        "reason.",
    },
    "device": {
        "kind": "text",
        "help": "cpu (default), cuda, cuda:0,1, or auto: GPUs if there are any. Default: $PARALOOM_DEVICE.",
    },
    "check_languages": {
        "flags": ["--language-check/--no-language-check"],
        "help": "Stop, before any work, at text that the translator cannot read.",
    },
    "src_lang": {"help": LANGUAGE.format("source", "de")},
    "tgt_lang": {"help": LANGUAGE.format("target", "en")},
    "src_column": {"help": "Source column of a table: a name, a number from 1, or keys with dots: translation.de."},
    "tgt_column": {"help": "Target column of a table: a name, a number from 1, or keys with dots: translation.de."},
    "license": {"help": "License of the training data, for the model card."},
    "log_file": {
        "flags": ["--log-file"],
        "metavar": "FILE",
        "help": "Append what happens to a file, as lines of JSON: stages, shards, progress, memory.",
        "panel": WATCH,
    },
    "on_end": {
        "metavar": "COMMAND|URL",
        "help": "At the end, however it ends: run a shell command, with $PARALOOM_STATE, _FOLDER, _SECONDS and others; "
        "or send the state to a web address, as JSON by POST.",
        "panel": WATCH,
    },
}
"""Parameter → what is said about it where a function says nothing else."""

GENERAL = frozenset(["as_json", "force", "log_file", "on_end", "seed", "workers", "engine", "device", "on_error"])
"""Options that are said here alone, whichever commands have them."""
