"""Small web pages, sites and images for tests of the extraction."""

from __future__ import annotations

import io
from pathlib import Path

ENGLISH = (
    "The museum opens its doors on Sunday, and everybody who lives in the old town may visit it without a ticket. "
)
GERMAN = "Das Museum öffnet am Sonntag seine Türen, und jeder, der in der Altstadt wohnt, darf es umsonst besuchen. "
MENU = "<nav>Home | News | Contact</nav><div>Follow us on all channels</div>"


def html(text: str, *, title: str = "A page", lang: str = "en", extra: str = "", body: str = MENU) -> str:
    """A page with one paragraph per line of `text`."""
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f'<!DOCTYPE html><html lang="{lang}">{head}<body>{body}{paragraphs}{extra}</body></html>'


def site(folder: Path, pages: int = 25) -> Path:
    """A folder of pages that share a menu; each has a heading and two paragraphs of its own."""
    folder.mkdir(parents=True)
    for number in range(pages):
        text = f"Room {number}\n{ENGLISH * 2} It is room {number}.\nPlease close the door of room {number} behind you."
        (folder / f"{number:03d}.html").write_text(html(text, title=f"Room {number}"), encoding="utf-8")
    return folder


def png(color: str = "red", size: int = 64) -> bytes:
    """A PNG image of an ellipse."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (size, size), "white")
    ImageDraw.Draw(image).ellipse((5, 9, size // 2, size - 20), fill=color)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
