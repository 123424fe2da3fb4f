"""A data set to give away, of the pairs of a run: Parquet, the card that a reader needs to trust it, the Hub."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraloom.api.pair_inputs import read_pairs
from paraloom.api.travelling_warnings import warnings_of
from paraloom.core.errors import ConfigError, DataError, ParaloomError, RunError, imports_of_extra, suggestion
from paraloom.core.hub import hub_endpoint
from paraloom.core.licenses import HUB_LICENSES
from paraloom.core.remote_files import as_url, is_url
from paraloom.core.results import ResultRecord, markdown_table
from paraloom.core.secrets import hide_environment, redacted
from paraloom.core.version import __version__
from paraloom.io import Corpus
from paraloom.io.atomic import atomic_folder
from paraloom.io.shards import rebatch, write_shard

LICENSES = {"tatoeba": "cc-by-2.0"}
"""Origin of rows → its license, as the Hub writes it."""

_SHARD_ROWS = 500_000
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGER = "1M<n<10M"
_SHARE_ALIKE = "-sa"


@dataclass(frozen=True)
class Published(ResultRecord):
    """A published data set."""

    folder: str
    rows: int
    licenses: tuple[str, ...]
    files: tuple[str, ...]

    def format(self) -> str:
        return (
            f"{self.rows:,} pairs in {self.folder}, license: {', '.join(self.licenses)}\n"
            f'Load it: datasets.load_dataset("{self.folder.removeprefix(HUB)}")'
        )


def publish(run: str | Path, output: str | Path, *, title: str = "", license: str = "", read_by: str = "") -> Published:
    """Make a data set for the Hugging Face Hub of the last pairs of a run: Parquet and a card.

    The card has the provenance of the pairs, what each stage kept, the models and versions, and the digest that the
    same run has on any machine.

    Args:
        run: The folder of a run or of a corpus of pairs, or a file of pairs.
        output: The folder to write, or hf://datasets/OWNER/NAME, to upload it in one commit.
        title: Heading of the card. Default: the name of the run.
        license: Licenses of the origins of the pairs, as the Hub names them, separated by commas: cc-by-4.0.
        read_by: Who read how many of the pairs and found how many right, in a sentence.

    Returns:
        What was written.

    Raises:
        DataError: No pairs were found.
        ConfigError: The license of an origin is not known, the licenses exclude each other, or the Hub has a data set
            of this name that Paraloom did not write.
        RunError: The upload was cut off (the same call resumes), or the data set changed meanwhile.

    Example:
        >>> import tempfile
        >>> from paraloom import as_pairs
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = as_pairs([("A cat sleeps.", "The cat is asleep.")]).write(folder / "pairs")
        >>> publish(folder / "pairs", folder / "cats", license="cc-by-4.0").rows
        1
    """
    if is_url(output):
        url = as_url(output)
        with tempfile.TemporaryDirectory() as scratch:
            published = publish(run, Path(scratch, "dataset"), title=title, license=license, read_by=read_by)
            upload_dataset(Path(published.folder), url)
        return replace(published, folder=url)
    folder = Path(run)
    record = _read_run(folder)
    pairs = read_pairs(folder) if folder.is_file() else None  # the rows live as long as this object
    corpus = _last_pairs(folder, record) if pairs is None else pairs.corpus()
    origins, languages, scores = _contents(corpus)
    licenses = _licenses(origins, license)
    name = title or str(record.get("name") or folder.stem)
    files = []
    with atomic_folder(output, "README.md") as work:
        (work / "data").mkdir()
        shards = -(-corpus.rows // _SHARD_ROWS)
        for number, table in enumerate(rebatch(corpus.batches(), corpus.schema, _SHARD_ROWS)):
            files.append(f"data/train-{number:05d}-of-{shards:05d}.parquet")
            write_shard(work / files[-1], table, corpus.schema)
        facts = {"origins": origins, "licenses": licenses, "languages": languages, "scores": scores}
        facts["warnings"] = [*_warnings(record), *map(_quoted, warnings_of(folder))]
        (work / "README.md").write_text(
            _front(name, corpus.rows, licenses, languages) + _body(name, corpus, record, facts, read_by),
            encoding="utf-8",
        )
    return Published(str(output), corpus.rows, tuple(licenses), tuple(files))


def _read_run(folder: Path) -> dict[str, object]:
    path = folder / "run.json"
    if not path.is_file():
        return {}
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise DataError("cannot be read", file=path, remedy="Run the pipeline again.") from None
    return record if isinstance(record, dict) else {}


def _last_pairs(folder: Path, record: Mapping[str, Any]) -> Corpus:
    """The last corpus of pairs of a run, or the corpus itself."""
    stages = [Path(str(stage.get("folder", ""))).name for stage in record.get("stages", [])]
    for path in [*(folder / name for name in reversed(stages)), folder]:
        if (path / "corpus.json").is_file():
            corpus = Corpus.open(path)
            if {"src", "tgt"} <= set(corpus.schema.names):
                if corpus.rows:
                    return corpus
                raise DataError("no pairs to publish", file=path, remedy="Filter less strictly.")
    raise DataError(
        "no pairs found", file=folder, remedy="Name the folder of a run or of a corpus of pairs, or a file of pairs."
    )


def _contents(corpus: Corpus) -> tuple[Counter[str], list[str], list[str]]:
    """Origins and their rows, languages, and columns of scores."""
    names = corpus.schema.names
    origins: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    columns = [name for name in ("origin", "src_lang", "tgt_lang") if name in names]
    for batch in corpus.batches(columns):
        for name in columns:
            counted = Counter(str(value) for value in batch.column(name).to_pylist() if value)
            (origins if name == "origin" else languages).update(counted)
    plain = {"pair_id", "src", "tgt", "src_lang", "tgt_lang", "origin", "method", "pivot", "pivot_lang", "rank"}
    return origins, sorted(languages), [name for name in names if name not in plain]


def _licenses(origins: Mapping[str, int], given: str) -> list[str]:
    """The licenses of all origins, each once: those that are given, or else those that the origins are known for."""
    named = [text.strip().lower() for text in given.split(",") if text.strip()]
    licenses = named if given else _known_licenses(origins)
    if wrong := [text for text in licenses if text not in HUB_LICENSES]:
        raise ConfigError(
            f"the Hub has no license '{wrong[0]}'{suggestion(wrong[0], sorted(HUB_LICENSES))}",
            remedy="Write an identifier of huggingface.co/docs/hub/repositories-licenses, such as cc-by-4.0, or other.",
        )
    licenses = sorted(dict.fromkeys(licenses))
    conflict = [text for text in licenses if "-nd" in text] or _conflicts(licenses)
    if conflict:
        raise ConfigError(
            f"the licenses {' and '.join(conflict)} do not allow one data set",
            remedy="Publish the pairs of each license by itself: filter by origin first.",
        )
    return licenses


def _known_licenses(origins: Mapping[str, int]) -> list[str]:
    unknown = [origin for origin in origins if origin not in LICENSES] or ([] if origins else ["the pairs"])
    if unknown:
        raise ConfigError(
            f"the license of {', '.join(unknown[:3])} is not known",
            remedy="Name the licenses of all origins with --license, such as cc-by-4.0,cc-by-sa-3.0.",
        )
    return [LICENSES[origin] for origin in origins]


def _conflicts(licenses: Sequence[str]) -> list[str]:
    """Share-alike licenses that exclude each other: of other families, or with a clause that the other lacks."""
    alike = [text for text in licenses if _SHARE_ALIKE in text or text.startswith(("gpl", "agpl", "odbl"))]
    families = {(text.partition("-")[0], "-nc" in text) for text in alike}
    restricted = [text for text in licenses if "-nc" in text]
    if len(families) > 1:
        return alike
    return [*alike, *restricted] if restricted and any("-nc" not in text for text in alike) else []


def _front(name: str, rows: int, licenses: Sequence[str], languages: Sequence[str]) -> str:
    size = next((text for bound, text in _SIZES if rows < bound), _LARGER)
    kinds = ["paraphrase"] if len(languages) < 2 else ["translation"]
    lines = [
        "---",
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        "license:",
        *(f"- {text}" for text in licenses),
        "language:",
        *(f"- {json.dumps(text, ensure_ascii=False)}" for text in languages or ["und"]),
        "task_categories:",
        *(["- sentence-similarity", "- text-generation"] if len(languages) < 2 else ["- translation"]),
        "size_categories:",
        f"- {size}",
        "tags:",
        *(f"- {text}" for text in (*kinds, TAG)),
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: train",
        "    path: data/train-*.parquet",
        "---",
    ]
    return "\n".join(lines) + "\n\n"


def _quoted(text: object) -> str:
    """A text of a file as one line of Markdown, in which nothing of it is a heading, a cell, a link or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(str(text).split())) if text else ""


def _body(name: str, corpus: Corpus, record: Mapping[str, Any], facts: Mapping[str, Any], read_by: str) -> str:
    origins, licenses = facts["origins"], facts["licenses"]
    parts = [
        f"# {_quoted(name)}",
        f"{corpus.rows:,} pairs of sentences (`src`, `tgt`), made by Paraloom {__version__}.",
        "## Are they right?",
        read_by or "Nobody has read a sample of these pairs: their precision is not known.",
        "## Where they come from",
        "\n".join(
            markdown_table(("origin", "pairs"), ((_quoted(text), f"{rows:,}") for text, rows in origins.most_common()))
        )
        if origins
        else "The pairs do not say where they come from.",
        f"Licenses: {', '.join(licenses)}.",
    ]
    if stages := list(_stages(record)):
        parts += ["## How they were made", "\n".join(markdown_table(("stage", "what", "in", "out"), stages, left=2))]
        versions = ", ".join(_quoted(f"{key} {value}") for key, value in record.get("versions", {}).items())
        parts.append(f"Digest of the run: {_quoted(record.get('digest'))}. Versions: {versions}.")
    parts += ["## Overlap with test sets", _held_out(record)]
    if facts["warnings"]:
        parts += ["## Warnings", *facts["warnings"]]
    if facts["scores"]:
        parts += ["## Columns", "Scores: " + ", ".join(map(_quoted, facts["scores"])) + "."]
    return "\n\n".join(parts) + "\n"


def _stages(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for stage in record.get("stages", []):
        counts = stage.get("counts", {})
        settings = stage.get("configuration", {})
        shown = "; ".join(
            f"{key} = {_quoted(value)}"
            for key, value in settings.items()
            if key in ("where", "decode", "translator", "scores")
        )
        what = f"{_quoted(stage.get('use'))}{': ' + shown if shown else ''}"
        yield _quoted(stage.get("name")), what, f"{counts.get('read', 0):,}", f"{counts.get('out', 0):,}"


def _held_out(record: Mapping[str, Any]) -> str:
    """What a stage left out because it is in a test set, or that none did."""
    for stage in record.get("stages", []):
        if stage.get("configuration", {}).get("held_out"):
            rows = stage.get("counts", {}).get("rejected", 0)
            return (
                f"Stage {_quoted(stage.get('name'))} left out rows of held-out texts ({rows:,} rows with its others)."
            )
    return "Not looked for: leave out what is in your test sets before you train on these pairs."


def _warnings(record: Mapping[str, Any]) -> Iterator[str]:
    """What a stage found of the translator's depth, which stays true of the pairs."""
    for stage in record.get("stages", []):
        figures = stage.get("figures", {})
        costs, known = figures.get("costs"), figures.get("development_costs")
        if isinstance(costs, dict) and isinstance(known, dict):
            here, there = (part.get("percentiles", {}).get("50") for part in (costs, known))
            if here and there and here > 1.5 * there:
                yield (
                    f"The translations of stage {_quoted(stage.get('name'))} cost the translator {here:.2f} nats a "
                    f"token, those of its development text {there:.2f}: many of them are probably wrong."
                )


HUB = "hf://datasets/"
TAG = "paraloom"
"""Tag of the cards that Paraloom writes, by which its data sets are known."""

_CHANGED = 412
_NOT_OURS = (401, 403)


def upload_dataset(folder: Path, url: str) -> None:
    """Make the data set at `hf://datasets/OWNER/NAME` equal to a folder; files that are there are not sent again."""
    name = url.removeprefix(HUB)
    if not url.startswith(HUB) or name.count("/") != 1 or "@" in name:
        raise ConfigError("expected the name of a data set", file=url, remedy=f"Write {HUB}OWNER/NAME.")
    with imports_of_extra("hub", "uploading"):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    hide_environment()
    hub = HfApi(endpoint=hub_endpoint(), library_name=TAG)
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    with _hub_errors(url):
        hub.create_repo(name, repo_type="dataset", exist_ok=True)
        info = hub.dataset_info(name)
        there = {file.rfilename for file in info.siblings or ()} - {".gitattributes"}
        _check_ours(url, there, info.tags or ())
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationAdd(file, path) for file, path in files.items()
        ]
        operations += map(
            CommitOperationDelete, sorted(file for file in there - set(files) if file.startswith("data/"))
        )
        message = f"{len(files) - 1} files of pairs and their card"
        hub.create_commit(name, operations, commit_message=message, repo_type="dataset", parent_commit=info.sha)


def _check_ours(url: str, files: Collection[str], tags: Collection[str]) -> None:
    """Raise ConfigError if there is a data set that Paraloom did not write."""
    if files and TAG not in tags:
        raise ConfigError(
            "the hub has a data set of this name that Paraloom did not write",
            file=url,
            remedy="Name another one, or delete its files first.",
        )


@contextmanager
def _hub_errors(url: str) -> Iterator[None]:
    try:
        yield
    except ParaloomError:
        raise
    except Exception as error:  # the hub's client and what it is made of have classes of their own
        status = getattr(getattr(error, "response", None), "status_code", None)
        text = redacted(" ".join(str(error).split()) or repr(error))[:300].rstrip(".")
        if status == _CHANGED:
            what, remedy = "the data set changed while it was uploaded", "Look at it, and run again."
        elif status in _NOT_OURS:
            what, remedy = f"access denied ({text})", "Log in with `hf auth login`, as somebody who may write there."
        else:
            what, remedy = f"cannot be uploaded ({text})", "Run again: files that are there are not sent again."
        raise RunError(what, file=url, remedy=remedy) from error
