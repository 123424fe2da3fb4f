"""Cards of exported encoders, as the Hugging Face Hub reads them."""

from __future__ import annotations

import re

_OURS = re.compile(r"(library_name|pipeline_tag|tags):")
_FRONT = (
    "library_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- sentence-similarity\n- paraloom\n"
)
NEEDS_CODE = (
    "**sentence-transformers opens this folder with `trust_remote_code=True` only.** Its own modules cannot compute "
    "`{spec}`: the folder has code, `modeling_paraloom.py`, which needs `pip install paraloom`. Without running code "
    'of the folder: `paraloom.Encoder.load("path/to/this/folder")`.'
)
RESTORED = "The weights are those of int8, written as float32: cosines differ by 0.002 on average."


def exported_card(card: str, *, note: str = "", trust: bool = False) -> str:
    """The card of an encoder with the front matter and the call of sentence-transformers."""
    front, body = _split(card)
    title, _, rest = body.strip().partition("\n")
    option = ", trust_remote_code=True" if trust else ""
    call = (
        "```python\nfrom sentence_transformers import SentenceTransformer\n\n"
        f'SentenceTransformer("path/to/this/folder"{option}).encode(["A sentence."])\n```'
    )
    return f"---\n{front}{_FRONT}---\n\n" + "\n\n".join(filter(None, (title, note, call, rest.strip()))) + "\n"


def _split(card: str) -> tuple[str, str]:
    """Front matter without the keys that say which library opens the folder, and the text."""
    lines = card.splitlines(keepends=True)
    if not lines or lines[0].strip() != "---":
        return "", card
    end = next((n for n, line in enumerate(lines) if n and line.strip() == "---"), 0)
    kept, skipping = [], False
    for line in lines[1:end]:
        if line[:1].isalpha():
            skipping = bool(_OURS.match(line))
        if not skipping:
            kept.append(line)
    return "".join(kept), "".join(lines[end + 1 :])
