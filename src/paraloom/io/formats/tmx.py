"""Translation memories (TMX 1.4), streamed through expat without building a tree or resolving entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.version import __version__
from paraloom.io.compression import open_read, open_write
from paraloom.io.formats.base import PairRow, ReadOptions, text_column

_CHUNK_BYTES = 1 << 16
_TOOL = "paraloom"
# Elements with markup of the translated document, not text.
_MARKUP = {"bpt", "ept", "it", "ph", "ut"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read(options: ReadOptions) -> Iterator[PairRow]:
    """Read one pair per translation unit; rows count units.

    Languages match exactly, else by their primary subtag ('en' matches 'en-GB'). By default they are the two of the
    first unit, in order. Two texts in one language are read where that is given twice, or Paraloom wrote the file.
    """
    units = _Units()
    languages: tuple[str, str] | None = None
    row = 0
    with open_read(options.path) as stream:
        ended = False
        while not ended:
            chunk = stream.read(_CHUNK_BYTES)
            ended = not chunk
            try:
                units.parser.Parse(chunk, ended)
            except (expat.ExpatError, LookupError, ValueError) as error:
                # Unknown encodings raise a LookupError, and those of several bytes a ValueError.
                raise DataError(
                    f"the XML is invalid or truncated ({error})",
                    file=options.path,
                    row=row + len(units.finished) + 1,
                    remedy="Export the file again.",
                ) from None
            except DataError as error:
                raise error.at(file=options.path, row=row + len(units.finished) + 1) from None
            for unit in units.finished:
                row += 1
                try:
                    languages = languages or _languages(options, unit, units.ours)
                    src, tgt = _sides(unit, languages)
                except DataError as error:
                    options.reject(row, error, repr(unit))
                else:
                    yield PairRow(row, src, tgt, *languages)
            units.finished.clear()


def write(batches: Iterable[pa.RecordBatch], target: str) -> int:
    """Write one unit per row, with its pair_id if it has one."""
    rows = 0
    header = f'creationtool="{_TOOL}" creationtoolversion="{__version__}" segtype="sentence" o-tmf="plain"'
    with open_write(target) as stream:
        stream.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
            f'<header {header} adminlang="en" srclang="*all*" datatype="plaintext"/>\n<body>\n'.encode()
        )
        for batch in batches:
            columns = batch.schema.names
            names = [name for name in ("pair_id", "src", "tgt", "src_lang", "tgt_lang") if name in columns]
            columns = [text_column(batch.column(name)).to_pylist() for name in names]
            for values in zip(*columns, strict=True):
                rows += 1
                stream.write(_unit(dict(zip(names, values, strict=True)), target, rows).encode())
        stream.write(b"</body>\n</tmx>\n")
    return rows


class _Units:
    """The handlers of one parse; `finished` holds complete units, each a list of (language, text)."""

    def __init__(self) -> None:
        self.finished: list[list[tuple[str, str]]] = []
        self.ours = False  # Written by Paraloom, whose paraphrases are units of one language
        self._unit: list[tuple[str, str]] = []
        self._lang = ""
        self._text: list[str] | None = None
        self._markup = 0
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
        elif name == "header":
            self.ours = attributes.get("creationtool") == _TOOL
        elif name == "tuv":
            self._lang = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg":
            self._text = []
        elif name in _MARKUP:
            self._markup += 1

    def _end(self, name: str) -> None:
        if name == "tu":
            self.finished.append(self._unit)
        elif name == "seg" and self._text is not None:
            self._unit.append((self._lang, "".join(self._text)))
            self._text = None
        elif name in _MARKUP:
            self._markup -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._markup:
            self._text.append(text)

    def _entity(self, name: str, *_: object) -> None:
        # Entities can expand without bound or read other files; translation memories do not need them.
        raise DataError(
            f"the file uses a declared entity, &{name};", remedy="Export it without entity declarations, in UTF-8."
        )


def _languages(options: ReadOptions, unit: list[tuple[str, str]], ours: bool) -> tuple[str, str]:
    """The two languages to read, decided at the first unit."""
    present = list(dict.fromkeys(lang for lang, _ in unit if lang))
    src, tgt = options.src_lang, options.tgt_lang
    if src and tgt:
        return src, tgt
    if ours and present and [lang for lang, _ in unit] == 2 * present:
        return src or present[0], tgt or present[0]
    if len(present) < 2:
        raise _too_few_languages(unit)
    return _missing_language(options, present)


def _missing_language(options: ReadOptions, present: list[str]) -> tuple[str, str]:
    """The languages of a file that has two, or one besides that which is named."""
    known = options.src_lang or options.tgt_lang
    others = [lang for lang in present if not _same(lang, known)] if known else present
    if len(others) != (1 if known else 2):
        raise ConfigError(
            f"cannot tell which languages to read; the first unit has {', '.join(present)}",
            file=options.path,
            remedy="Set --src-lang and --tgt-lang.",
        )
    return options.src_lang or others[0], options.tgt_lang or others[-1]


def _too_few_languages(unit: list[tuple[str, str]]) -> DataError:
    tags = ", ".join(lang or "no language" for lang, _ in unit) or "none"
    return DataError(
        f"expected texts in two languages in the unit; its languages are {tags}",
        remedy="Set --src-lang and --tgt-lang, or remove the unit.",
    )


def _same(a: str, b: str) -> bool:
    """True if two language tags have the same primary subtag."""
    return re.split("[-_]", a.lower())[0] == re.split("[-_]", b.lower())[0]


def _sides(unit: list[tuple[str, str]], languages: tuple[str, str]) -> tuple[str, str]:
    """The texts in both languages; in one language twice the two texts in it, as units of paraphrases have them."""
    src, tgt = (_texts(unit, lang, 1 + (languages[0] == languages[1])) for lang in languages)
    return src[0], tgt[-1]


def _texts(unit: list[tuple[str, str]], lang: str, count: int) -> list[str]:
    texts = [text for tag, text in unit if tag.lower() == lang.lower()]
    texts = texts or [text for tag, text in unit if _same(tag, lang)]
    if len(texts) != count:
        tags = ", ".join(tag or "no language" for tag, _ in unit) or "none"
        raise DataError(
            f"expected {'one text' if count == 1 else 'two texts'} in '{lang}' in the unit, got {len(texts)}; "
            f"its languages are {tags}",
            remedy="Give the full tag (such as en-GB), or remove the unit.",
        )
    return texts


def _unit(unit: Mapping[str, str | None], target: str, row: int) -> str:
    for column, value in unit.items():
        if bad := _NOT_XML.search(value or ""):
            raise DataError(
                f"'{column}' has U+{ord(bad[0]):04X}, which XML cannot represent",
                file=target,
                row=row,
                remedy="Normalize the text first, or write .jsonl or .parquet.",
            )
    sides = []
    for side in ("src", "tgt"):
        text = unit[side] or ""
        lang = quoteattr(unit.get(f"{side}_lang") or "und")
        # A bare carriage return would be read back as a line feed.
        sides.append(f"<tuv xml:lang={lang}><seg>{escape(text, {chr(13): '&#13;'})}</seg></tuv>")
    name = unit.get("pair_id")
    return f"<tu{f' tuid={quoteattr(name)}' if name else ''}>{''.join(sides)}</tu>\n"
