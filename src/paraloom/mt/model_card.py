"""Model cards: front matter, a description and, of a translator, a table of facts, which programs read, too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paraloom.io.atomic import write_text


def write_card(folder: Path, *, title: str, facts: Mapping[str, object], text: str) -> None:
    """Write README.md, the model card: Hugging Face's front matter, a description, and a table of facts."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    # The Hub takes one identifier, or a list of them.
    licenses = ", ".join(part.strip() for part in str(facts.get("license", "other")).split(","))
    listed = f"[{licenses}]" if "," in licenses else licenses
    front = f"---\nlicense: {listed}\ntags:\n- translation\n- paraloom\n---\n"
    # Replaced, not changed: the old one may have a second name in the folder of a run.
    write_text(folder / "README.md", f"{front}\n# {title}\n\n{text}\n\n| | |\n| --- | --- |\n{rows}\n")


def read_card(folder: Path) -> dict[str, str]:
    """The table of facts of a model card; empty if the folder has none."""
    path = folder / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|", 1)] for line in lines if line.startswith("|")]
    return {row[0]: row[1] for row in cells if len(row) == 2 and row[0].strip("- ")}


def read_front_matter(folder: Path) -> dict[str, str]:
    """The keys of a model card's front matter, as text; empty if the folder has none."""
    card = folder / "README.md"
    lines = card.read_text(encoding="utf-8").splitlines() if card.is_file() else []
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        return {}
    pairs = (line.partition(":") for line in lines[1 : lines.index("---", 1)] if line[:1].isalpha())
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def card_languages(folder: Path) -> list[str]:
    """The codes of the languages that a model card names."""
    codes = read_front_matter(folder).get("language", "").strip("[]").split(",")
    return [code.strip() for code in codes if code.strip()]
