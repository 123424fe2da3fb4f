"""Pages into a corpus of documents: parsed once onto the disk, then rid of what their sites repeat, and written."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, MissingExtraError, RunError
from paraloom.core.progress import progress
from paraloom.core.schema import DOCUMENTS
from paraloom.extract import html as main_text
from paraloom.extract.acceptance import Acceptance
from paraloom.extract.boilerplate import COUNTED, repeated_texts, text_hash
from paraloom.extract.counts import ExtractionCounts
from paraloom.extract.images import Fingerprint
from paraloom.extract.pages import Archive, Files, Origin, Page, origins
from paraloom.extract.parsed import Job
from paraloom.extract.tasks import hashing, parsing
from paraloom.extract.warc import records_of
from paraloom.io import read_batches, write_corpus
from paraloom.io.atomic import atomic_folder
from paraloom.io.corpus import DESCRIPTION
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local
from paraloom.text.languages import LanguageIdentifier, known_languages

ASIDE = "set-aside.jsonl"
"""In the corpus folder: the pages that became no document, one a line, with doc_id, url, reason and detail."""

LARGE = 20
"""Pages of a site from which on `auto` compares them: on fewer, a fifth of the pages is chance."""

# Rows that are held at a time, and rows of a shard: documents are long.
_BATCH, _SHARD = 64, 1000


@dataclass(frozen=True)
class ExtractConfig:
    """What becomes a document, and how.

    main_text: one of main_text.METHODS, or 'auto': site where a site has 20 pages or more, else trafilatura.
    lang: the language of all pages, whatever they say.  languages: those that may occur; all that lingua knows by
    default.  keep_languages: keep a page that reads as another language than it says, under the one it says.
    least: characters of main text.  media: folders where pictures may be.
    """

    main_text: str = "auto"
    lang: str | None = None
    languages: Sequence[str] = ()
    keep_languages: bool = False
    least: int = 50
    media: Sequence[Path] = ()

    def check(self) -> None:
        """Raises ConfigError for what cannot be, MissingExtraError where the extractors are not installed."""
        main_text.check_method(self.main_text)
        if self.least < 1:
            raise ConfigError(f"a document has 1 character or more, not {self.least}")
        if self.lang is not None and main_text.primary_language(self.lang) != self.lang:
            raise ConfigError(f"'{self.lang}' is no language", remedy="Give its code, such as de, en or ko.")
        for folder in self.media:
            if not folder.is_dir():
                raise ConfigError(f"there is no folder {folder}", remedy="Name the folder that has the pictures.")
        try:
            import imagehash  # noqa: F401
            import warcio  # noqa: F401
        except ImportError:
            raise MissingExtraError.for_verb("extract", "extract") from None


def extract_documents(
    sources: Sequence[str], output: str, config: ExtractConfig | None = None, *, workers: int | None = None
) -> ExtractionCounts:
    """Write the documents of some sources as the corpus `output`; see `paraloom extract --help`.

    Nothing is at `output` before all is: an error or Ctrl-C leaves nothing.  The bytes do not depend on `workers`.
    Held in memory: a few pages a process, the repeated texts of each site, a hash a page, two a picture.
    Raises DataError for sources that are not there, hold no page or are cut short, RunError where there is a corpus.
    """
    config = config or ExtractConfig()
    config.check()
    folder = Path(output)
    if folder.suffix or output == "-" or folder.is_file():
        raise ConfigError(f"'{output}' is no name for a corpus", remedy="Name a folder, without a suffix.")
    if (folder / DESCRIPTION).exists():
        raise RunError("there is a corpus already", file=folder, remedy="Remove it, or name another folder.")
    found = origins(sources)
    identifier = _identifier(config)
    engine: Engine = Inline() if workers == 1 else Local(workers)
    try:
        with atomic_folder(folder, DESCRIPTION) as temporary:
            work = temporary / "work"
            work.mkdir()
            counts = _Extraction(found, config, identifier, engine, work).write(temporary)
            shutil.rmtree(work)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; nothing was written, the same command starts anew") from None
    finally:
        engine.close()
    return counts.check()


@dataclass
class _Extraction:
    """One call of `extract_documents`.  work: a folder for what lies on the disk meanwhile."""

    origins: Sequence[Origin]
    config: ExtractConfig
    identifier: LanguageIdentifier | None
    engine: Engine
    work: Path

    def write(self, folder: Path) -> ExtractionCounts:
        counts = ExtractionCounts()
        sizes: Counter[str] = Counter()
        pictures = self._survey(sizes)
        with progress("reading pages", sizes.total(), unit="pages") as advance:
            shards = sorted(self.engine.run(parsing(self._jobs(sizes, counts), self.work), advance))
        repeated = repeated_texts(shards, "hashes", self.work)
        repeated_pictures = repeated_texts(shards, "list_transform(images, lambda x: x.hash)", self.work)
        files = self._files(shards)
        with progress("hashing pictures", len(files), unit="pictures") as advance:
            for hashes in self.engine.run(hashing((file, None) for file in files), advance):
                pictures.update(hashes)
        with (folder / ASIDE).open("wb") as aside:
            accept = Acceptance(
                self.config.least,
                self.config.keep_languages,
                self.identifier,
                repeated,
                repeated_pictures,
                pictures,
                counts,
                aside,
            )
            write_corpus(folder, self._documents(shards, accept), kind="DOCUMENTS", shard_rows=_SHARD)
        return counts

    def _survey(self, sizes: Counter[str]) -> dict[str, Fingerprint]:
        """Count the pages of each site, and hash the pictures of archives on the way: of equal addresses, the first."""
        met: set[str] = set()

        def pictures() -> Iterator[tuple[str, bytes | None]]:
            for origin in self.origins:
                for found in _pages(origin) if isinstance(origin, Files) else records_of(origin.path):
                    if isinstance(found, Page):
                        sizes[found.site] += 1
                    elif found.url not in met:
                        met.add(found.url)
                        yield found.url, found.body

        with progress("hashing pictures of archives", unit="pictures") as advance:
            return {key: value for hashes in self.engine.run(hashing(pictures()), advance) for key, value in hashes}

    def _jobs(self, sizes: Counter[str], counts: ExtractionCounts) -> Iterator[Job]:
        config = self.config
        met: Counter[str] = Counter()
        names: Counter[int] = Counter()
        media = tuple(config.media)
        for origin in self.origins:
            for page in _pages(origin):
                method = config.main_text
                if method == "auto":
                    method = "site" if sizes[page.site] >= LARGE else "trafilatura"
                met[page.site] += 1
                counts.read += 1
                counts.by[method] += 1
                name = self._name(page)
                names[key := text_hash(name)] += 1
                # An address may be in an archive twice, and two folders may have one name.
                name = name if names[key] == 1 else f"{name}#{names[key]}"
                yield Job(name, page, method, met[page.site] <= COUNTED, config.lang, media)

    def _name(self, page: Page) -> str:
        """Its address; of a file its path without suffix, within the folder where there is one folder alone."""
        if page.file is None:
            return page.url
        path = Path(page.url).with_suffix("")
        alone = len(self.origins) == 1 and isinstance(self.origins[0], Files) and self.origins[0].paths is None
        return Path(*path.parts[1:]).as_posix() if alone else path.as_posix()

    def _files(self, shards: Sequence[Path]) -> list[str]:
        """The files of pictures, each once."""
        files: dict[str, None] = {}
        for shard in shards:
            for batch in read_batches(shard, ["images"]):
                for images in batch.column(0).to_pylist():
                    files |= {image["file"]: None for image in images or () if image["file"]}
        return list(files)

    def _documents(self, shards: Sequence[Path], accept: Acceptance) -> Iterator[pa.RecordBatch]:
        made = signature("extract", main_text=self.config.main_text, least=self.config.least, **_versions())
        text = DOCUMENTS.field("text").with_metadata({"signature": made})
        schema = DOCUMENTS.set(DOCUMENTS.get_field_index("text"), text)
        with progress("writing documents", accept.counts.read, unit="pages") as advance:
            for shard in shards:
                for batch in read_batches(shard, batch_rows=_BATCH):
                    yield pa.RecordBatch.from_pylist(accept.documents(batch.to_pylist()), schema=schema)
                    advance(batch.num_rows)


def _pages(origin: Origin) -> Iterator[Page]:
    if isinstance(origin, Archive):
        return (found for found in records_of(origin.path) if isinstance(found, Page))
    return origin.pages()


def _identifier(config: ExtractConfig) -> LanguageIdentifier | None:
    if config.languages:
        return LanguageIdentifier(config.languages, long_texts=True)
    try:
        return LanguageIdentifier(known_languages(), long_texts=True)
    except ConfigError:
        warnings.warn(
            "lingua is not installed: the languages that pages say they are in are believed"
            " (pip install 'paraloom[language]')",
            stacklevel=2,
        )
        return None


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("justext", "trafilatura")}
