"""Where pages come from: folders, files, lists of files and WARC archives, as one stream of pages not yet read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import DataError
from paraloom.io.compression import PIPE, open_read, read_lines

HTML = (".html", ".htm", ".xhtml", ".shtml")
TEXT = (".txt",)
ARCHIVES = (".warc", ".warc.gz")


@dataclass(frozen=True)
class Page:
    """A page as it was found.

    url: its address, or its path: as it was named, in a folder from that folder's name on.  site: what it shares its
    menus with: the host of an archive's page, else the folder or the list.  kind: 'html' or 'text'.  file: where its
    bytes are, None where they are `body`.  root: what / means in its links to files.  charset, lang: what the server
    said.  status: of HTTP, 200 where nobody was asked, 0 where it cannot be read.
    """

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
        """Its bytes.  Raises OSError where its file cannot be read."""
        return self.body if self.file is None else self.file.read_bytes()


@dataclass(frozen=True)
class Files:
    """Pages in files.  paths: in their order, None for all of the folder `root`, sorted.

    A page's pictures are read from within `root` only (None: its own folder): a page cannot make anybody read what
    else is on the disk.
    """

    root: Path | None
    site: str
    paths: Sequence[Path] | None = None

    def pages(self) -> Iterator[Page]:
        """The pages, none of them read; the same ones each time."""
        if self.paths is not None:
            for path in self.paths:
                yield self._page(path, path)
        elif self.root is not None:
            name = self.root.resolve().name
            for path in _walk(self.root):
                if not is_archive(path):
                    yield self._page(path, Path(name, path.relative_to(self.root)))

    def _page(self, path: Path, named: Path) -> Page:
        kind = "text" if path.suffix.lower() in TEXT else "html"
        # A name that is no Unicode would fit no column.
        url = os.fsencode(named.as_posix()).decode("utf-8", "replace")
        return Page(url, self.site, kind, path, root=self.root or path.parent)


@dataclass(frozen=True)
class Archive:
    """A WARC file; align/warc.py reads it."""

    path: Path


Origin = Files | Archive


def origins(sources: Sequence[str]) -> list[Origin]:
    """What the arguments of the command name: folders, pages, archives, and lists of those, `@FILE`, a path a line.

    The pages of a list are of one site, and so are those named one by one that lie in one folder.  An archive in a
    folder is one more origin.  Paths in a list start from the current folder; `@-` is a list on standard input.
    Raises DataError for what is not there, with the list and the row that names it, and for a folder without pages.
    """
    found: list[Origin] = []
    single: dict[Path, list[Path]] = {}
    for source in sources:
        if source.startswith("@"):
            found += _of_list(source[1:])
        elif Path(source).is_file() and not is_archive(Path(source)):
            single.setdefault(Path(source).parent, []).append(Path(source))
        else:
            found += _of(Path(source))
    root = _above(list(single))
    return found + [Files(root, folder.as_posix(), paths) for folder, paths in single.items()]


def is_archive(path: Path) -> bool:
    """Whether the name is that of a WARC file."""
    return path.name.lower().endswith(ARCHIVES)


def _of_list(name: str) -> list[Origin]:
    found: list[Origin] = []
    pages: list[Path] = []
    for row, line in enumerate(read_lines(name), 1):
        if not line.strip():
            continue
        try:
            if Path(line).is_file() and not is_archive(Path(line)):
                pages.append(Path(line))
            else:
                found += _of(Path(line))
        except DataError as error:
            raise DataError(f"{error.file}: {error.what}", file=name, row=row, remedy=error.remedy) from None
    site = "standard input" if name == PIPE else Path(name).as_posix()
    return [*found, Files(_above([page.parent for page in pages]), site, pages)] if pages else found


def _of(path: Path) -> list[Origin]:
    """The origins in a folder, or that an archive is."""
    if str(path) == PIPE:
        raise DataError("pages are read twice, a pipe is not", remedy="Write a file; @- is a list on standard input.")
    if not path.is_dir():
        with open_read(path):  # It says what is wrong with a name, and which ones are near.
            return [Archive(path)]
    archives: list[Origin] = []
    pages = 0
    for each in _walk(path):
        if is_archive(each):
            archives.append(Archive(each))
        else:
            pages += 1
    if not archives and not pages:
        raise DataError(
            "there is no page in this folder",
            file=path,
            remedy=f"Pages end with {', '.join((*HTML, *TEXT, *ARCHIVES))}.",
        )
    return [*([Files(path, path.as_posix())] if pages else []), *archives]


def _above(folders: Sequence[Path]) -> Path | None:
    """The folder that all of them are in; None where that is the whole disk, or there is none."""
    common = Path(os.path.commonpath([folder.absolute() for folder in folders])) if folders else Path("/")
    return None if common == common.parent else common


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith((*HTML, *TEXT, *ARCHIVES)):
                yield Path(place, name)
