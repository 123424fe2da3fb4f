"""Sources of pages: folders, files, lists of files and WARC archives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from paraloom.core.errors import DataError
from paraloom.io.compression import PIPE, open_read, read_lines

HTML = (".html", ".htm", ".xhtml", ".shtml")
TEXT = (".txt",)
ARCHIVES = (".warc", ".warc.gz")

MAX_PAGE_BYTES = 16 << 20
"""Bytes of a page at most, decompressed; larger pages are set aside. Common Crawl stops at 5 MB."""


@dataclass(frozen=True)
class Page:
    """A page that is not read yet."""

    url: str
    site: str
    kind: str
    file: Path | None = None
    body: bytes = b""
    root: Path | None = None
    charset: str | None = None
    lang: str | None = None
    status: int = 200

    def read(self) -> bytes:
        """Read its bytes: of a larger page, one more than `MAX_PAGE_BYTES`."""
        if self.file is None:
            return self.body
        with self.file.open("rb") as stream:
            return stream.read(MAX_PAGE_BYTES + 1)


@dataclass(frozen=True)
class FileSource:
    root: Path | None
    site: str
    paths: Sequence[Path] | None = None

    def pages(self) -> Iterator[Page]:
        if self.paths is not None:
            for path in self.paths:
                yield self._page(path, path)
        elif self.root is not None:
            name = self.root.resolve().name
            for path in _walk(self.root):
                if not is_archive(path):
                    yield self._page(path, Path(name, path.relative_to(self.root)))

    def _page(self, path: Path, name: Path) -> Page:
        kind = "text" if path.suffix.lower() in TEXT else "html"
        # Columns hold valid Unicode only; names of files may be invalid.
        url = os.fsencode(name.as_posix()).decode("utf-8", "replace")
        return Page(url, self.site, kind, path, root=self.root or path.parent)


@dataclass(frozen=True)
class ArchiveSource:
    """Pages in a WARC archive, which `warc.read_archive` reads."""

    path: Path


PageSource: TypeAlias = FileSource | ArchiveSource


def find_sources(arguments: Sequence[str]) -> list[PageSource]:
    """Find the pages that command line arguments name; those of a list, or single ones in one folder, are one site."""
    sources: list[PageSource] = []
    single: dict[Path, list[Path]] = {}
    for argument in arguments:
        path = Path(argument)
        if argument.startswith("@"):
            sources += _sources_in_list(argument[1:])
        elif path.is_file() and not is_archive(path):
            single.setdefault(path.parent, []).append(path)
        else:
            sources += _sources_in_path(path)
    root = _common_folder(list(single))
    return sources + [FileSource(root, folder.as_posix(), paths) for folder, paths in single.items()]


def is_archive(path: Path) -> bool:
    """True if the file is named like a WARC archive."""
    return path.name.lower().endswith(ARCHIVES)


def _sources_in_list(name: str) -> list[PageSource]:
    sources: list[PageSource] = []
    pages: list[Path] = []
    for row, line in enumerate(read_lines(name), 1):
        if not line.strip():
            continue
        try:
            if Path(line).is_file() and not is_archive(Path(line)):
                pages.append(Path(line))
            else:
                sources += _sources_in_path(Path(line))
        except DataError as error:
            raise DataError(f"{error.file}: {error.what}", file=name, row=row, remedy=error.remedy) from None
    site = "standard input" if name == PIPE else Path(name).as_posix()
    return [*sources, FileSource(_common_folder([page.parent for page in pages]), site, pages)] if pages else sources


def _sources_in_path(path: Path) -> list[PageSource]:
    if str(path) == PIPE:
        raise DataError(
            "pages cannot be read from a pipe, because they are read twice",
            remedy="Write a file; @- is a list on standard input.",
        )
    if not path.is_dir():
        with open_read(path):  # its error suggests similar names
            return [ArchiveSource(path)]
    archives: list[PageSource] = []
    pages = 0
    for file in _walk(path):
        if is_archive(file):
            archives.append(ArchiveSource(file))
        else:
            pages += 1
    if not archives and not pages:
        raise DataError(
            "the folder has no pages",
            file=path,
            remedy=f"Names of pages end in {', '.join((*HTML, *TEXT, *ARCHIVES))}.",
        )
    return [*([FileSource(path, path.as_posix())] if pages else []), *archives]


def _common_folder(folders: Sequence[Path]) -> Path | None:
    """The folder that contains all folders; None where that is the root of the file system."""
    common = Path(os.path.commonpath([folder.absolute() for folder in folders])) if folders else Path("/")
    return None if common == common.parent else common


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith((*HTML, *TEXT, *ARCHIVES)):
                yield Path(parent, name)
