"""Extracts web pages to a corpus of documents: parses them to disk, drops repeated content and writes the rest."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from paraloom.api.keywords import ExtractSettings
from paraloom.core.batches import as_list
from paraloom.core.config import Config, check_range
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, RunError, imports_of_extra
from paraloom.core.progress import progress
from paraloom.core.schema import DOCUMENTS
from paraloom.extract import html
from paraloom.extract.boilerplate import MAX_COUNTED_PAGES, find_repeated, text_hash
from paraloom.extract.documents import DocumentBuilder, ExtractionCounts
from paraloom.extract.images import IMAGE_FILES, ImageHashes
from paraloom.extract.pages import ArchiveSource, FileSource, Page, PageSource, find_sources
from paraloom.extract.parsing import ParseJob
from paraloom.extract.tasks import hash_tasks, parse_tasks
from paraloom.extract.warc import read_archive
from paraloom.io import read_batches, write_corpus
from paraloom.io.atomic import atomic_folder
from paraloom.io.corpus import DESCRIPTION
from paraloom.pipeline.engines.base import Engine
from paraloom.pipeline.engines.registry import make_engine
from paraloom.text.languages import LanguageIdentifier, known_languages

REJECTED_PAGES = "set-aside.jsonl"
"""File in the corpus folder with one line per rejected page: doc_id, url, reason and detail."""

MIN_SITE_PAGES = 20
"""Pages of a site from which on the method `auto` compares them; on fewer, a fifth of the pages is too few."""

LINKS_FIELD = pa.field("links", pa.list_(pa.string()))
"""Column of extracted documents beyond DOCUMENTS: the addresses that a page links to."""

_BATCH_ROWS = 64
"""Pages in memory at a time."""

_SHARD_ROWS = 1000
"""Rows of a shard; documents are long."""


@dataclass(frozen=True, kw_only=True)
class ExtractConfig(Config):
    """Settings of an extraction.

    Args:
        main_text: Method of extracting the main text: 'site' (all text that a site does not repeat), 'trafilatura',
            'justext', or 'auto': 'site' for sites of 20 pages or more, else 'trafilatura'.
        lang: Language of all pages, whatever they declare; by default what each page declares.
        languages: Languages that may occur, such as de,en; by default all that lingua knows.
        keep_languages: Keep pages whose text is in another language than they declare, under the declared one.
        min_characters: Minimum length of the main text of a document, 1 or more.
        media: Folders to search for pictures, after the page's own.

    Raises:
        ConfigError: A value is not valid, or a folder does not exist.
    """

    main_text: str = "auto"
    lang: str | None = None
    languages: tuple[str, ...] = ()
    keep_languages: bool = False
    min_characters: int = 50
    media: tuple[Path, ...] = ()

    def validate(self) -> None:
        html.check_method(self.main_text)
        check_range(self, "min_characters", low=1)
        if self.lang is not None and html.primary_language(self.lang) != self.lang:
            raise ConfigError(
                f"key 'lang' must be a language code, not '{self.lang}'", remedy="Give a code such as de, en or ko."
            )
        for folder in self.media:
            if not folder.is_dir():
                raise ConfigError("folder of images not found", file=folder, remedy="Check the name.")


def extract_documents(
    sources: str | Path | Sequence[str | Path],
    output: str | Path,
    config: ExtractConfig | None = None,
    *,
    workers: int | None = None,
    **settings: Unpack[ExtractSettings],
) -> ExtractionCounts:
    """Extract documents from web pages: main text, title, language, pictures with hashes.

    Nothing appears at `output` before the corpus is complete. Its bytes do not depend on `workers`. Memory holds a few
    pages per process, the repeated texts of each site, a hash per page and two per image.

    Args:
        sources: Folders of pages, pages (.html .txt), archives (.warc .warc.gz), and lists of those, `@FILE`.
        output: Folder of the new corpus; rejected pages are listed in its set-aside.jsonl.
        config: Settings; the defaults where None.
        workers: Processes; default: one per core. The result is the same.
        **settings: Fields of `config`: `main_text`, `lang`, `media` …

    Returns:
        Counts of pages, paragraphs and images.

    Raises:
        ConfigError: A setting or the name of the output is not valid.
        DataError: A source does not exist, has no pages or is truncated.
        RunError: `output` holds a corpus already, or the disk is full.
        MissingExtraError: The packages of the extra `extract` are not installed.

    Example:
        >>> extract_documents("crawl.warc.gz", "documents", languages=["de", "en"])  # doctest: +SKIP
    """
    given: dict[str, Any] = {**settings}
    config = replace(config or ExtractConfig(), **given)
    _check_extra()
    folder = Path(output)
    if folder.suffix or output == "-" or folder.is_file():
        raise ConfigError(f"expected the name of a folder, got '{output}'", remedy="Name a folder, without a suffix.")
    if (folder / DESCRIPTION).exists():
        raise RunError("the folder already holds a corpus", file=folder, remedy="Delete it, or name another folder.")
    page_sources = find_sources([str(source) for source in as_list(sources)])
    identifier = _identifier(config)
    engine = make_engine("inline" if workers == 1 else "local", workers)
    try:
        with atomic_folder(folder, DESCRIPTION) as temporary:
            work = temporary / "work"
            work.mkdir()
            counts = _Extraction(page_sources, config, identifier, engine, work).write(temporary)
            shutil.rmtree(work)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; nothing was written") from None
    finally:
        engine.close()
    return counts.check()


@dataclass
class _Extraction:
    """One call of `extract_documents`; `work` is a folder for temporary files."""

    sources: Sequence[PageSource]
    config: ExtractConfig
    identifier: LanguageIdentifier | None
    engine: Engine
    work: Path

    def write(self, folder: Path) -> ExtractionCounts:
        counts = ExtractionCounts()
        site_sizes: Counter[str] = Counter()
        images = self._survey(site_sizes)
        with progress("reading pages", site_sizes.total(), unit="pages") as advance:
            shards = sorted(self.engine.run(parse_tasks(self._jobs(site_sizes, counts), self.work), advance))
        repeated = find_repeated(shards, "hashes", self.work)
        repeated_images = find_repeated(shards, "images", self.work)
        files = self._image_files(shards)
        with progress("hashing images", len(files), unit="images") as advance:
            for hashes in self.engine.run(hash_tasks((file, None) for file in files), advance):
                images.update(hashes)
        _write_image_files(folder, files, images)
        with (folder / REJECTED_PAGES).open("wb") as rejections:
            builder = DocumentBuilder(
                self.config.min_characters,
                self.config.keep_languages,
                self.identifier,
                repeated,
                repeated_images,
                images,
                counts,
                rejections,
            )
            write_corpus(folder, self._documents(shards, builder), kind="DOCUMENTS", shard_rows=_SHARD_ROWS)
        return counts

    def _survey(self, site_sizes: Counter[str]) -> dict[str, ImageHashes]:
        """Count the pages of each site and hash the images of archives, the first one of each address."""
        seen: set[str] = set()

        def images() -> Iterator[tuple[str, bytes | None]]:
            for source in self.sources:
                for item in _pages(source) if isinstance(source, FileSource) else read_archive(source.path):
                    if isinstance(item, Page):
                        site_sizes[item.site] += 1
                    elif item.url not in seen:
                        seen.add(item.url)
                        yield item.url, item.body

        with progress("hashing images of archives", unit="images") as advance:
            return {key: value for hashes in self.engine.run(hash_tasks(images()), advance) for key, value in hashes}

    def _jobs(self, site_sizes: Counter[str], counts: ExtractionCounts) -> Iterator[ParseJob]:
        config = self.config
        read: Counter[str] = Counter()
        names: Counter[int] = Counter()
        for source in self.sources:
            for page in _pages(source):
                method = config.main_text
                if method == "auto":
                    method = "site" if site_sizes[page.site] >= MIN_SITE_PAGES else "trafilatura"
                read[page.site] += 1
                counts.read += 1
                counts.methods[method] += 1
                name = self._name(page)
                names[key := text_hash(name)] += 1
                # An archive may have an address twice, and two folders may have the same name.
                name = name if names[key] == 1 else f"{name}#{names[key]}"
                yield ParseJob(name, page, method, read[page.site] <= MAX_COUNTED_PAGES, config.lang, config.media)

    def _name(self, page: Page) -> str:
        """Its address; for a file its path without suffix, relative to the folder if that is the only source."""
        if page.file is None:
            return page.url
        path = Path(page.url).with_suffix("")
        first = self.sources[0]
        single_folder = len(self.sources) == 1 and isinstance(first, FileSource) and first.paths is None
        return Path(*path.parts[1:]).as_posix() if single_folder else path.as_posix()

    def _image_files(self, shards: Sequence[Path]) -> list[str]:
        """The files of images, each once."""
        files: dict[str, None] = {}
        for shard in shards:
            for batch in read_batches(shard, ["images"]):
                for images in batch.column(0).to_pylist():
                    files |= {image["file"]: None for image in images or () if image["file"]}
        return list(files)

    def _documents(self, shards: Sequence[Path], builder: DocumentBuilder) -> Iterator[pa.RecordBatch]:
        # `least` as in earlier versions, so that the bytes of corpora stay the same.
        settings = {"main_text": self.config.main_text, "least": self.config.min_characters}
        text = DOCUMENTS.field("text").with_metadata({"signature": signature("extract", **settings, **_versions())})
        schema = DOCUMENTS.set(DOCUMENTS.get_field_index("text"), text).append(LINKS_FIELD)
        with progress("writing documents", builder.counts.read, unit="pages") as advance:
            for shard in shards:
                for batch in read_batches(shard, batch_rows=_BATCH_ROWS):
                    yield pa.RecordBatch.from_pylist(builder.build(batch.to_pylist()), schema=schema)
                    advance(batch.num_rows)


def _write_image_files(folder: Path, files: Sequence[str], images: Mapping[str, ImageHashes]) -> None:
    """Write where the files of images are, relative to the corpus, for pages that show them."""
    by_hash = {images[file].sha256: file for file in reversed(files) if file in images}
    if by_hash:
        entries = ({"sha256": digest, "file": os.path.relpath(by_hash[digest], folder)} for digest in sorted(by_hash))
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (folder / IMAGE_FILES).write_text(text, encoding="utf-8")


def _check_extra() -> None:
    with imports_of_extra("extract", "extract"):
        import imagehash  # noqa: F401
        import warcio  # noqa: F401


def _pages(source: PageSource) -> Iterator[Page]:
    if isinstance(source, ArchiveSource):
        return (item for item in read_archive(source.path) if isinstance(item, Page))
    return source.pages()


def _identifier(config: ExtractConfig) -> LanguageIdentifier | None:
    if config.languages:
        return LanguageIdentifier(config.languages, long_texts=True)
    try:
        return LanguageIdentifier(known_languages(), long_texts=True)
    except ConfigError:
        warnings.warn(
            "lingua is not installed: declared languages of pages are not checked (pip install 'paraloom[language]')",
            stacklevel=2,
        )
        return None


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("justext", "trafilatura")}
