"""Translation memories (TMX 1.4), streamed through expat: no tree is built, no entity is followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from paraloom import __version__
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.compression import open_read, open_write
from paraloom.io.formats.base import Asked, Pair

_PIECE = 1 << 16
# Inside these is the mark-up of the document that was translated, not its text.
_CODES = {"bpt", "ept", "it", "ph", "ut"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read(asked: Asked) -> Iterator[Pair]:
    """One pair a unit; a row is a unit.

    Languages are matched whole first, then by their primary subtag ('en' finds 'en-GB'); where none is asked for, the
    two of the first unit are taken, in order.  DataError for a unit without exactly one text of each language, for an
    entity declared in the file, and for broken XML.
    """
    units = _Units()
    wanted: tuple[str, str] | None = None
    row = 0
    with open_read(asked.path) as stream:
        ended = False
        while not ended:
            piece = stream.read(_PIECE)
            ended = not piece
            try:
                units.parser.Parse(piece, ended)
            except expat.ExpatError as error:
                raise DataError(
                    f"the XML is broken or cut short ({error})",
                    file=asked.path,
                    row=row + len(units.done) + 1,
                    remedy="Export it again from where it came.",
                ) from None
            except DataError as error:
                raise error.at(file=asked.path, row=row + len(units.done) + 1) from None
            for unit in units.done:
                row += 1
                wanted = wanted or _languages(asked, unit)
                try:
                    src, tgt = (_side(unit, lang) for lang in wanted)
                except DataError as error:
                    asked.refuse(row, error, repr(unit))
                else:
                    yield Pair(row, src, tgt, *wanted)
            units.done.clear()


def write(batches: Iterable[pa.RecordBatch], target: str) -> int:
    """One unit a row, with its pair_id where there is one.  Returns the rows.

    Raises DataError for a character that XML cannot hold (control characters but tab and line end).
    """
    rows = 0
    header = f'creationtool="paraloom" creationtoolversion="{__version__}" segtype="sentence" o-tmf="plain"'
    with open_write(target) as stream:
        stream.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
            f'<header {header} adminlang="en" srclang="*all*" datatype="plaintext"/>\n<body>\n'.encode()
        )
        for batch in batches:
            for unit in batch.select(_columns(batch)).to_pylist():
                rows += 1
                stream.write(_unit(unit, target, rows).encode())
        stream.write(b"</body>\n</tmx>\n")
    return rows


class _Units:
    """The handlers of one parse; `done` holds the finished units, each a list of (language, text)."""

    def __init__(self) -> None:
        self.done: list[list[tuple[str, str]]] = []
        self._unit: list[tuple[str, str]] = []
        self._lang = ""
        self._text: list[str] | None = None
        self._codes = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "tu":
            self._unit = []
        elif name == "tuv":
            self._lang = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg":
            self._text = []
        elif name in _CODES:
            self._codes += 1

    def _end(self, name: str) -> None:
        if name == "tu":
            self.done.append(self._unit)
        elif name == "seg" and self._text is not None:
            self._unit.append((self._lang, "".join(self._text)))
            self._text = None
        elif name in _CODES:
            self._codes -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(text)

    def _entity(self, name: str, *_: Any) -> None:
        # Entities can grow without bound or read other files; a translation memory has no need of its own.
        raise DataError(
            f"the file uses an entity of its own, &{name};",
            remedy="Export it without a DTD of its own, in plain UTF-8.",
        )


def _languages(asked: Asked, unit: list[tuple[str, str]]) -> tuple[str, str]:
    """What to take from every unit, decided at the first."""
    there = list(dict.fromkeys(lang for lang, _ in unit))
    src, tgt = asked.src_lang, asked.tgt_lang
    if not src and not tgt and len(there) == 2:
        return there[0], there[1]
    left = [lang for lang in there if not any(_same(lang, known) for known in (src, tgt) if known)]
    if len(left) != 1 and not (src and tgt):
        raise ConfigError(
            f"which languages are meant is not said; the first unit has {', '.join(there) or 'none'}",
            file=asked.path,
            remedy="Say which: --src-lang, --tgt-lang.",
        )
    return src or left[0], tgt or left[0]


def _same(found: str, wanted: str) -> bool:
    return re.split("[-_]", found.lower())[0] == re.split("[-_]", wanted.lower())[0]


def _side(unit: list[tuple[str, str]], lang: str) -> str:
    texts = [text for found, text in unit if found.lower() == lang.lower()]
    texts = texts or [text for found, text in unit if _same(found, lang)]
    if len(texts) != 1:
        there = ", ".join(found or "no language" for found, _ in unit) or "none"
        raise DataError(
            f"the unit has {len(texts) or 'no'} texts in '{lang}', not one; it has {there}",
            remedy="Give the whole tag (as en-GB), or remove the unit.",
        )
    return texts[0]


def _columns(batch: pa.RecordBatch) -> list[str]:
    return [name for name in ("pair_id", "src", "tgt", "src_lang", "tgt_lang") if name in batch.schema.names]


def _unit(unit: Mapping[str, str | None], target: str, row: int) -> str:
    sides = []
    for side in ("src", "tgt"):
        text = unit[side] or ""
        if bad := _NOT_XML.search(text):
            raise DataError(
                f"'{side}' holds U+{ord(bad[0]):04X}, which XML cannot hold",
                file=target,
                row=row,
                remedy="Normalise the text first, or write .jsonl or .parquet.",
            )
        lang = quoteattr(unit.get(f"{side}_lang") or "und")
        # A bare carriage return would be read back as a line end.
        sides.append(f"<tuv xml:lang={lang}><seg>{escape(text, {chr(13): '&#13;'})}</seg></tuv>")
    name = unit.get("pair_id")
    return f"<tu{f' tuid={quoteattr(name)}' if name else ''}>{''.join(sides)}</tu>\n"
