"""Files that a URL names (s3://, gs://, sftp:// …): fetched once into a local cache; credentials are never shown."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, DataError, MissingExtraError, ParaloomError, RunError
from paraloom.core.lazy import late
from paraloom.core.secrets import hide_environment, redacted

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_hub_endpoint = late("paraloom.core.hub:hub_endpoint")
_join_files = late("paraloom.core.hub_datasets:join_files")
_select_files = late("paraloom.core.hub_datasets:select_files")
_selection_of = late("paraloom.core.hub_datasets:selection_of")


def is_below(name: object) -> bool:
    """True if a value is a relative path that does not lead out of its folder."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and path.name != ""


def path_below(folder: Path, name: object, file: Path) -> Path:
    """The path that a file names."""
    if not is_below(name):
        raise DataError(
            f"the path {name!r:.80} cannot be read: it leads out of the folder, or is not text",
            file=file,
            remedy="Restore the file from a copy.",
        )
    return folder / str(name)


EXTRA_OF_SCHEME = {
    **dict.fromkeys(("s3", "s3a"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gcs"),
    **dict.fromkeys(("abfs", "abfss", "az"), "azure"),
    **dict.fromkeys(("sftp", "ssh"), "sftp"),
    "hf": "hub",
    **dict.fromkeys(("file", "memory"), "s3"),
}
"""Scheme of a URL that can be read → the extra that installs what it needs."""

_URL = re.compile(rf"^({'|'.join(EXTRA_OF_SCHEME)}):/{{1,3}}(?=[^/])")
_BRACES = re.compile(r"\{([^{},]+),([^{},]+)\}")
_TIMEOUT = 30  # Seconds that a server may take to answer

# What of fsspec's facts about a file changes with its content.
_CONTENT_FACTS = ("ETag", "etag", "md5Hash", "crc32c", "content_md5", "blob_id", "mtime", "LastModified", "created")
_RECORD = "fetched.json"

_origins: dict[Path, str] = {}


def is_url(path: object) -> bool:
    """True if a path, or text, is the URL of a remote file or folder."""
    return isinstance(path, (str, Path)) and _URL.match(str(path)) is not None


def as_url(path: str | Path) -> str:
    """The URL, also where a `Path` has dropped one of its slashes."""
    text = str(path)
    match = _URL.match(text)
    if match is None:
        return text
    slashes = "///" if match.group(1) == "file" else "//"
    return f"{match.group(1)}:{slashes}{text[match.end() :]}".rstrip("/")


def cache_folder() -> Path:
    """Folder of what is fetched and converted: $PARALOOM_CACHE, or ~/.cache/paraloom."""
    return Path(os.environ.get("PARALOOM_CACHE") or Path.home() / ".cache" / "paraloom")


def local_copy(folder: str | Path) -> Path:
    """Folder of the files of a run on this machine: for a URL, a folder of the cache."""
    if not is_url(folder):
        return Path(folder)
    return cache_folder().absolute() / "runs" / digest(redacted(as_url(folder)))[:24]


def filesystem(url: str) -> tuple[AbstractFileSystem, str]:
    """The fsspec file system of a URL, and the path in it."""
    scheme = url.partition(":")[0]
    hide_environment()
    try:
        import fsspec
    except ImportError as error:
        raise _missing(scheme) from error
    options: dict[str, object] = {}
    if scheme in ("s3", "s3a"):
        options = {"use_listings_cache": False, "config_kwargs": {"connect_timeout": 10, "read_timeout": 2 * _TIMEOUT}}
    elif scheme in ("sftp", "ssh"):
        options = {"timeout": _TIMEOUT, "banner_timeout": _TIMEOUT, "auth_timeout": _TIMEOUT}
    elif scheme == "hf":
        # An instance that was used before keeps its listings, and would not see a new commit.
        options = {"endpoint": _hub_endpoint(), "skip_instance_cache": True}
    with storage_errors(url):
        try:
            file_system, path = fsspec.core.url_to_fs(url, **options)
        except ImportError as error:
            raise _missing(scheme) from error
    return file_system, str(path).rstrip("/")


def _missing(scheme: str) -> MissingExtraError:
    extra = EXTRA_OF_SCHEME.get(scheme, "s3")
    return MissingExtraError(
        f"URLs that begin with {scheme}:// need packages that are not installed",
        remedy=f"Run: pip install 'paraloom[{extra}]'",
    )


@contextmanager
def storage_errors(url: str) -> Iterator[None]:
    """Turn what a storage refuses inside the block into a RunError that names the URL without its credentials."""
    try:
        yield
    except ParaloomError:
        raise
    except FileExistsError:
        raise
    except Exception as error:  # each package has classes of its own
        kind = type(error).__name__
        text = redacted(" ".join(str(error).split()).rstrip("."))
        if isinstance(error, FileNotFoundError):
            what, remedy = "not found", "Check the name of the bucket or folder, and that it exists."
        elif kind in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"):
            what, remedy = "no credentials found", "Set them as the storage's own tools want them (AWS_PROFILE, …)."
        elif isinstance(error, PermissionError) or kind in ("AuthenticationException", "BadAuthenticationType"):
            what = f"access denied ({text})" if text else "access denied"
            remedy = "Check the credentials, and what they may do there."
        else:
            what = f"the storage does not answer as expected ({kind}: {text})"
            remedy = "Check the address and the network, and run again: what is done is kept."
        raise RunError(what, file=redacted(url), remedy=remedy) from error


def origin(path: Path) -> str | None:
    """The URL that a path of the cache was fetched from by this process, without credentials; None for other paths."""
    return _origins.get(path)


def fetched(url: str | Path) -> Path:
    """Fetch a file, a folder, or a split of a data set as one table into the cache, unless it has the same content."""
    url = as_url(url)
    selection = _selection_of(url)
    if (braces := _BRACES.search(url)) is not None:
        return _fetched_sides(url, braces)
    shown = redacted(url)
    file_system, path = filesystem(selection.address if selection else url)
    files, folder = _files_below(file_system, path, url)
    table = ""
    if selection is not None and folder:
        with storage_errors(url):
            table, chosen = _select_files(selection, file_system, path, files)
        files = {name: files[name] for name in chosen} or files
    facts = {name: [_size(fact), *_content(fact)] for name, fact in files.items()}
    versioned = all(len(fact) > 1 for fact in facts.values())
    slot = cache_folder() / "remote" / digest([shown, facts if versioned else ""])[:24]
    target = slot / (table or PurePosixPath(path).name)
    if not (versioned and _is_complete(slot, target)):
        _fetch(file_system, path, files, slot, target.name, url, join=bool(table))
    _origins[target] = shown
    return target


def _files_below(file_system: AbstractFileSystem, path: str, url: str) -> tuple[dict[str, Any], bool]:
    """The facts about a file, by the name '', or about all files of a folder; and whether it is one."""
    with storage_errors(url):
        try:
            details = file_system.info(path)
            folder = details["type"] == "directory"
            below = file_system.find(path, detail=True) if folder else {}
        except FileNotFoundError:
            folder, below = True, {}
    if not folder:
        return {"": details}, False
    # A "directory marker" of an object storage is empty and has the name of the folder itself.
    files = {str(PurePosixPath(name).relative_to(path)): facts for name, facts in below.items() if name != path}
    if not files:
        raise DataError("file not found", file=redacted(url), remedy="Check the URL; names are case-sensitive there.")
    if not all(map(is_below, files)):
        raise DataError("a file below the URL has '..' in its name", file=redacted(url), remedy="Rename it.")
    return files, True


def _fetched_sides(url: str, braces: re.Match[str]) -> Path:
    """Fetch both files of ``PREFIX.{de,en}``, and bring them together in one folder."""
    before, after = url[: braces.start()], url[braces.end() :]
    if "/" in braces.group() + after:
        raise ConfigError(
            "the two files must be in one folder", file=redacted(url), remedy="Write s3://bucket/folder/train.{de,en}."
        )
    sides = [fetched(f"{before}{side}{after}") for side in braces.groups()]
    slot = cache_folder() / "remote" / digest([[side.parent.name, side.name] for side in sides])[:24]
    slot.mkdir(parents=True, exist_ok=True)
    for side in sides:
        shutil.copyfile(side, temporary := slot / f".{side.name}.{secrets.token_hex(4)}.tmp")
        temporary.replace(slot / side.name)
    target = slot / url.rpartition("/")[2]
    _origins[target] = redacted(url)
    return target


def _size(facts: Mapping[str, Any]) -> int | None:
    size = facts.get("size")
    return None if size is None else int(size)


def _content(facts: Mapping[str, Any]) -> list[str]:
    return [f"{key} {facts[key]}" for key in _CONTENT_FACTS if facts.get(key) is not None]


def _is_complete(slot: Path, target: Path) -> bool:
    """True if the cache has all files of `target` with the bytes that were fetched."""
    try:
        recorded = json.loads((slot / _RECORD).read_text(encoding="utf-8"))
        return all(file_digest(target / name if name else target) == known for name, known in recorded.items())
    except (OSError, ValueError, AttributeError):
        return False


def _fetch(
    file_system: AbstractFileSystem, path: str, files: Mapping[str, Any], slot: Path, name: str, url: str, *, join: bool
) -> None:
    """Fetch all files into a temporary folder, which then becomes `slot`; `join` puts them together as one."""
    try:
        slot.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{slot.name}.", suffix=".tmp", dir=slot.parent))
    except OSError as error:
        raise ConfigError(
            f"the cache cannot be written: {os.strerror(error.errno or 0)}",
            file=slot.parent,
            remedy="Name another folder: PARALOOM_CACHE=/path.",
        ) from error
    try:
        digests = {}
        folder = temporary / (f"{name}.parts" if join else name)
        for below, facts in files.items():
            target = folder / below if below else folder
            target.parent.mkdir(parents=True, exist_ok=True)
            with storage_errors(url):
                file_system.get_file(f"{path}/{below}" if below else path, str(target))
            if _size(facts) not in (None, target.stat().st_size):
                raise RunError("the file changed while it was fetched", file=redacted(url), remedy="Run again.")
            digests[below] = file_digest(target)
        if join:
            _join_files([folder / below for below in files], temporary / name)
            shutil.rmtree(folder)
            digests = {"": file_digest(temporary / name)}
        (temporary / _RECORD).write_text(json.dumps(digests), encoding="utf-8")
        shutil.rmtree(slot, ignore_errors=True)
        try:
            temporary.rename(slot)
        except OSError:
            # Another process was faster.
            if not (slot / _RECORD).is_file():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
