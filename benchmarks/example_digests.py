"""Run every example at a small scale and print a digest of what each stage wrote, to compare two versions of the code.

    python benchmarks/example_digests.py --repo . --data $PARALOOM_DATA -o after.json
    python benchmarks/example_digests.py --compare before.json after.json

A digest covers content only: the values of each column of a corpus, the arrays of a model, the numbers of a result.
Names of folders, keys and configuration files, signatures and times do not count.  The examples run on a copy of the
data folder with some hundred lines of each file, and with trainings of a few steps, so that all of them end within
half an hour on two cores.  Digests of trained models are comparable on the same processor and library versions only.
Version 0.1 has to be run with SentencePiece 0.2.1, as this version is: later ones ignore the seed of subword sampling
in part.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import hashlib
import json
import lzma
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

FOLDERS = ("bitext", "sts", "phrase", "simplewiki", "sentences", "sentences-en", "treebank", "documents")
"""Folders of the data that the examples read."""

KEEP_WHOLE = ("bitext/wmt-news/tr-en.tsv.gz", "*.sets.tsv", "documents/*/gold.documents.*")
"""Files that row numbers refer to, and small ones."""

RECORDS = 36
"""Lines of a phrase file are records of 3, 4 or 9 lines: copies have a multiple of this."""

PAGES = 40
"""Web pages of each language in the copy."""

CAPS: dict[str, int] = {
    **{"steps": 4, "epochs": 1, "evaluate_every": 2, "warmup": 1, "held_out": 2, "batch_tokens": 300},
    **{"vocabulary": 400, "inner": 64, "dimension": 300, "word_entries": 2000, "trigram_entries": 2000},
    **{"limit": 60, "sample": 60, "sentences": 40, "measured": 30, "least": 3, "seeds": 1, "contrasts": 29},
    **{"megabatch": 4},
}
"""Setting, by the name that version 0.1.0 has for it → its largest value here."""

ALIASES = {
    **{"max_steps": "steps", "num_steps": "steps", "num_epochs": "epochs", "max_epochs": "epochs"},
    **{"warmup_steps": "warmup", "eval_steps": "evaluate_every", "vocab_size": "vocabulary", "ffn_dim": "inner"},
    **{"vocabulary_size": "vocabulary", "megabatch_size": "megabatch", "max_sentences": "sentences"},
    **{"num_contrasts": "contrasts", "num_seeds": "seeds", "min_size": "least", "min_pairs": "least"},
    **{"min_rows": "least", "max_rows": "limit"},
}
"""Newer name → older one; those that the checkout declares as `renamed_fields` are added."""

OLDER = {
    **{"min_words": "fewest", "max_words": "limit", "max_word_ratio": "ratio", "min_alphabetic_words": "wordlike"},
    **{"min_alphabetic_characters": "letters", "allow_identical": "identical", "allow_damaged": "damaged"},
    **{"decile": "tenth", "max_phrase_length": "longest", "min_count": "least", "max_character_ratio": "ratio"},
    **{"repeat_limit": "repeats", "max_length": "longest", "keep_copies": "copies", "keep_repeated": "repeated"},
    **{"swap": "turned", "pad_dimensions": "widen", "sif_coefficient": "rarity", "norm": "length"},
    **{"max_bead_size": "most", "assignment": "how", "threshold_on": "by", "max_candidates": "candidates"},
    **{"gold_swapped": "gold_turned", "source_pivot": "there", "pivot_target": "back", "init_from": "start"},
    **{"exact_sample": "enough", "text_files": "files_of_lines", "subwords_from": "subwords_of"},
    **{"description": "about", "utility": "quality"},
    **{"num_negatives": "contrasts", "max_grad_norm": "clip", "sample_fraction": "share", "task_repeats": "repeats"},
    **{"reversed_negative": "reversed_contrast", "num_candidates": "choices", "max_pairs": "pairs"},
    **{"negatives": "choice", "reuse_bitext": "begin_with", "third_language": "third", "sentences": "within"},
    **{"group_numbers": "wanted", "max_productions": "most", "diversity_limit": "measured"},
}
"""Keys of stages, loops and experiments: newer name → that of version 0.1.0."""

TIMES = re.compile(r"second|minute|hour|time|speed|memory|_per_|versions?$", re.IGNORECASE)
"""Keys of figures that say how long something took."""

CONFIGURATION = frozenset({".md", ".toml", ".json", ".lock", ".log"})
"""Files that describe and do not contain results; result.json and lists in JSON are read."""


OLD_ARTIFACT = "arte" + "fact"
"""Folder of a stage's artifact in runs of version 0.1.0."""


@dataclass(frozen=True)
class Example:
    """One example.

    Args:
        name: Its file's stem.
        verb: The command that runs it.
        needs: Environment variable → what it points at: another example, or one of `parser`, `teacher`, `documents`.
        variables: Further environment variables.
        settings: Table of the example → settings that it gets in any case, by their older names.
        caps: Settings that are smaller than CAPS has them, by their older names.
    """

    name: str
    verb: str = "run"
    needs: Mapping[str, str] | None = None
    variables: Mapping[str, str] | None = None
    settings: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    caps: Mapping[str, int] = field(default_factory=dict)


# Few documents: the default of 1,000 held-out pairs is too many, and Korean has many characters.
_LOOP = {"first": {"vocabulary": 1500, "held_out": 20}, "translator": {"vocabulary": 1500, "held_out": 20}}

EXAMPLES = (
    Example("quickstart"),
    Example("bundled-translator"),
    Example("bundled-encoder", needs={"TEACHER": "teacher"}),
    Example("multi30k-cs-en"),
    Example("german"),
    Example("random-start", needs={"GERMAN": "german"}),
    Example("english-encoder", needs={"GERMAN": "german", "TEACHER": "teacher"}),
    Example("english-curve", needs={"ENGLISH": "english-encoder"}),
    Example("phrases", needs={"TEACHER": "teacher"}),
    Example("syntax-groups", needs={"CAPTIONS": "multi30k-cs-en", "PARSER": "parser"}, caps={"held_out": 1}),
    Example("diversity", needs={"PARSER": "parser"}, caps={"held_out": 1}),
    Example("help-documents", needs={"DOCUMENTS": "documents"}),
    Example(
        "help-loop",
        "selftrain",
        {"DOCUMENTS": "documents"},
        {"LANGUAGE": "de"},
        {"translator": {"vocabulary": 600, "held_out": 20}},
    ),
    Example("selftrain", "selftrain", {"DOCUMENTS": "documents"}, settings=_LOOP),
    Example("czech-captions", "augment"),
    Example("turkish-english", "augment"),
    Example("english-turkish", "augment", {"PARSER": "parser"}),
)

TEACHER = """
import sys
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

folder = Path(sys.argv[1])
folder.mkdir(parents=True)
letters = [chr(code) for code in range(33, 127)]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
(folder / "vocab.txt").write_text("\\n".join(words) + "\\n")
torch.manual_seed(1)
config = BertConfig(
    vocab_size=len(words), hidden_size=320, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
)
BertModel(config).save_pretrained(folder / "bert")
BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
transformer = Transformer(str(folder / "bert"), max_seq_length=64)
SentenceTransformer(modules=[transformer, Pooling(320, pooling_mode="mean")], device="cpu").save(str(folder / "model"))
"""
"""A sentence-transformers model with random weights: the large encoder that the examples distill is not bundled."""


# --- A small copy of the data ---------------------------------------------------------------------------------------


def open_text(path: Path, mode: str) -> Any:
    """A text file, compressed as its name says."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    opener = openers.get(path.suffix, open)
    return opener(path, mode + "t", encoding="utf-8", newline="\n")


def shrink(source: Path, target: Path, lines: int) -> None:
    """Copy about `lines` lines of a file, evenly spaced; of files with records of several lines, the first ones."""
    name = source.as_posix()
    with open_text(source, "r") as stream:
        rows = stream.readlines()
    if "/treebank/" in name:
        rows = rows[: lines * 20]
        while rows and rows[-1].strip() and not rows[-1].startswith("("):
            rows.pop()
        rows = rows[:-1]
    elif "/phrase/" in name:
        rows = rows[: math.ceil(lines / RECORDS) * RECORDS]
    elif source.name.endswith(".jsonl.gz"):
        rows = rows[: max(5, lines // 20)]
    else:
        rows = rows[:: max(1, len(rows) // lines)][:lines]
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_text(target, "w") as stream:
        stream.writelines(rows)


def copy_data(data: Path, target: Path, lines: int) -> None:
    """Copy what the examples read, shrunk."""
    for folder in FOLDERS:
        for source in sorted((data / folder).rglob("*")):
            relative = source.relative_to(data)
            if not source.is_file() or ".tar" in source.name or source.suffix == ".md":
                continue
            if any(relative.match(pattern) for pattern in KEEP_WHOLE):
                (target / relative).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target / relative)
            else:
                shrink(source, target / relative, lines)


def unpack_pages(data: Path, target: Path) -> None:
    """Unpack the first pages that all languages have, and the pictures."""
    folder = data / "documents/libreoffice-help"
    counterparts: dict[str, dict[str, str]] = {}
    for language in ("cs", "de", "ko"):
        lines = (folder / f"gold.documents.en-{language}.tsv").read_text(encoding="utf-8").splitlines()
        counterparts[language] = dict(line.split("\t")[:2] for line in lines)
    english = sorted(set.intersection(*(set(pages) for pages in counterparts.values())))[:PAGES]
    wanted = {f"en/{page}.html" for page in english}
    wanted |= {f"{language}/{pages[page]}.html" for language, pages in counterparts.items() for page in english}
    for name in ("en", "cs", "de", "ko"):
        with tarfile.open(folder / f"pages.{name}.tar.xz") as archive:
            archive.extractall(target, [member for member in archive if member.name in wanted], filter="data")
    with tarfile.open(folder / "media.tar.xz") as archive:
        archive.extractall(target, filter="data")


# --- Examples made small --------------------------------------------------------------------------------------------


def renamed_fields(repo: Path) -> dict[str, str]:
    """Newer name → older name of the settings that a checkout's stages declare as renamed."""
    names = dict(OLDER)
    for path in sorted((repo / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "renamed_fields" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)):
                continue
            if isinstance(node.target, ast.Name) and node.target.id == "renamed_fields":
                for old, new in zip(node.value.keys, node.value.values, strict=True):
                    if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
                        names[str(new.value)] = str(old.value)
    return names


def capped(value: Any, older: Mapping[str, str], caps: Mapping[str, int], key: str = "") -> Any:
    """A value of an example's TOML with every setting at most as large as `caps` has it."""
    if isinstance(value, dict):
        return {name: capped(item, older, caps, name) for name, item in value.items()}
    if isinstance(value, list):
        return [capped(item, older, caps) for item in value]
    # A newer name of one setting may be an older name of another one.
    cap = caps.get(key) or caps.get(older.get(key, key))
    return min(value, cap) if cap and isinstance(value, int) and not isinstance(value, bool) else value


def toml_value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def toml_text(table: Mapping[str, Any], name: str = "") -> str:
    """A table as TOML, plain values first."""
    plain = {key: value for key, value in table.items() if not _is_table(value)}
    lines = [f"{key} = {toml_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        path = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            lines += ["", f"[{path}]", toml_text(value, path)]
        elif _is_table(value):
            for row in value:
                lines += ["", f"[[{path}]]", toml_text(row, path)]
    return "\n".join(lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def write_small(original: Path, folder: Path, example: Example, declared: Mapping[str, str], lines: int) -> Path:
    """Write the small version of an example, next to links to the files of the original's folder."""
    text = original.read_text(encoding="utf-8")
    # Hardly trained translators are unsure of everything: their translations are kept nevertheless.
    text = re.sub(r"translation_cost <= [\d.]+", "translation_cost <= 1000", text)
    text = re.sub(r"beam:\d+", "beam:3", text)
    older = {**ALIASES, **declared}
    table = capped(tomllib.loads(text), older, {**CAPS, **example.caps})
    newer = {old: new for new, old in declared.items()}
    for name, values in example.settings.items():
        for old, value in values.items():
            key = next((key for key in table[name] if older.get(key, key) == old), newer.get(old, old))
            table[name][key] = value
    if "parallel" in table:
        table["tests"] = dict(list(table["tests"].items())[:1])
        for corpus in (table["development"], *table["tests"].values()):
            if "sample" not in corpus:
                corpus["limit"] = min(corpus.get("limit", 20), 20)
        for corpus in table["parallel"]:
            if "skip" in corpus:
                corpus["limit"] = lines
    folder.mkdir(parents=True, exist_ok=True)
    for sibling in original.parent.iterdir():
        if sibling.suffix != ".toml" and not (folder / sibling.name).exists():
            (folder / sibling.name).symlink_to(sibling)
    path = folder / original.name
    path.write_text(toml_text(table) + "\n", encoding="utf-8")
    return path


# --- Running --------------------------------------------------------------------------------------------------------


class CommandError(Exception):
    """A command that ended with an error."""


@dataclass
class Workshop:
    """Runs one checkout's commands in a scratch folder.

    Args:
        repo: The checkout.
        data: The whole data folder.
        scratch: Where copies and runs go.
        lines: Lines of each data file that are kept.
        workers: Processes of a run.
        timeout: Seconds that a command may take.
    """

    repo: Path
    data: Path
    scratch: Path
    lines: int
    workers: int
    timeout: float

    def __post_init__(self) -> None:
        self.small_data = self.scratch / "data"
        if not self.small_data.exists():
            copy_data(self.data, self.small_data, self.lines)
        tree = self.scratch / "tree"
        tree.mkdir(exist_ok=True)
        if not (tree / "src").exists():
            (tree / "src").symlink_to(self.repo / "src")
        self.declared = renamed_fields(self.repo)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PARALOOM")},
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.repo / "src"), os.environ.get("PYTHONPATH")])),
            "PARALOOM_DATA": str(self.small_data),
            "TOKENIZERS_PARALLELISM": "false",
        }

    def paraloom(self, *arguments: str, variables: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        """Run a command of the checkout's `paraloom`."""
        self._call([sys.executable, "-m", "paraloom.cli.main", *arguments], variables or {}, cwd)

    def _call(self, command: Sequence[str], variables: Mapping[str, str], cwd: Path | None) -> None:
        try:
            ended = subprocess.run(
                command,
                env={**self.environment, **variables},
                cwd=cwd or self.scratch,
                capture_output=True,
                text=True,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CommandError(f"not finished after {self.timeout:.0f} s") from None
        if ended.returncode:
            lines = (ended.stderr or ended.stdout).strip().splitlines()
            raise CommandError(" ".join(line.strip() for line in lines[-6:])[-600:])

    def toml(self, name: str) -> Path:
        """The example's file in the checkout."""
        candidates = [*self.repo.glob(f"examples/{name}.toml"), *self.repo.glob(f"src/paraloom/**/{name}.toml")]
        if not candidates:
            raise CommandError(f"{name}.toml not versions in {self.repo}")
        return candidates[0]

    def need(self, what: str) -> str:
        """The folder of what an example needs, made where it is missing."""
        folder = self.scratch / "runs" / what
        if what == "parser":
            if not folder.exists():
                treebank = self.small_data / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz"
                self.paraloom("train", "parser", str(treebank), "--method", "grammar", "-o", str(folder))
        elif what == "teacher":
            if not folder.exists():
                self._call([sys.executable, "-c", TEACHER, str(folder)], {}, None)
            return str(folder / "model")
        elif what == "documents":
            if not folder.exists():
                folder.mkdir(parents=True)
                unpack_pages(self.data, folder)
                for language in ("en", "cs", "de", "ko"):
                    options = ("-o", f"documents-{language}", "--keep-languages", "--media", "media")
                    self.paraloom("extract", language, *options, cwd=folder)
        elif not (folder / "run.json").exists():
            raise CommandError(f"needs the run of {what}, which failed or was not asked for")
        return str(folder)

    def run(self, example: Example) -> Path:
        """Run an example at a small scale; returns its run folder."""
        original = self.toml(example.name)
        folder = "examples" if original.parent.name == "examples" else original.parent.name
        toml = write_small(original, self.scratch / "tree" / folder, example, self.declared, self.lines)
        variables = {name: self.need(what) for name, what in (example.needs or {}).items()}
        output = self.scratch / "runs" / example.name
        options = ("-o", str(output), "--workers", str(self.workers))
        has_research = (self.repo / "src/paraloom/papers/__init__.py").exists()
        group = ["research"] if example.verb != "run" and has_research else []
        self.paraloom(*group, example.verb, str(toml), *options, variables={**variables, **(example.variables or {})})
        return output


# --- Digests --------------------------------------------------------------------------------------------------------


def sha(parts: Iterable[bytes]) -> str:
    """The first 16 digits of the SHA-256 of parts, each with its length."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:16]


def column_digests(shards: Sequence[Path]) -> dict[str, str]:
    """Column → digest of its values in all shards, row by row; no schema metadata."""
    tables = [pq.read_table(shard) for shard in shards]
    names = sorted({name for table in tables for name in table.column_names})
    return {
        name: sha(
            repr(value).encode()
            for table in tables
            for value in (table.column(name).to_pylist() if name in table.column_names else [])
        )
        for name in names
    }


def array_digests(path: Path) -> list[str]:
    """The digests of the arrays of a .safetensors file, without their names, sorted."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    return sorted(
        sha([str(entry["dtype"]).encode(), repr(entry["shape"]).encode(), body[slice(*entry["data_offsets"])]])
        for name, entry in header.items()
        if name != "__metadata__"
    )


def numbers(value: Any) -> Iterator[str]:
    """Every number below a JSON value, times left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not TIMES.search(key):
                yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield repr(float(value))


def numbers_digest(values: Iterable[Any]) -> str:
    """The digest of all numbers of JSON values, in any order: keys may be renamed."""
    return sha(text.encode() for text in sorted(text for value in values for text in numbers(value)))


def file_digest(path: Path) -> str | None:
    """The digest of one file of an artifact; None for one that only describes."""
    if path.name == "result.json":
        return numbers_digest([json.loads(path.read_text(encoding="utf-8"))])
    if path.suffix == ".jsonl" and "curve" in path.name:
        return numbers_digest(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    if path.suffix == ".safetensors":
        return sha(digest.encode() for digest in array_digests(path))
    if path.suffix == ".json":
        value = json.loads(path.read_text(encoding="utf-8"))
        return sha([json.dumps(value).encode()]) if isinstance(value, list) else None
    if path.suffix in CONFIGURATION or path.name == "manifest.jsonl" or path.name.startswith("."):
        return None
    return sha([gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()])


def stage_digests(folder: Path, figures: Mapping[str, Any]) -> dict[str, str]:
    """What a stage wrote, by part: `rejected: column src`, `artifact/model.bin`, `figures` → digest."""
    parts: dict[str, str] = {}
    shards: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix().replace(OLD_ARTIFACT, "artifact")
        if path.suffix == ".parquet":
            shards.setdefault(name.rpartition("/")[0] or "rows", []).append(path)
        elif path.is_file() and "/.tmp" not in name and (digest := file_digest(path)):
            parts[name] = digest
    for name, paths in shards.items():
        for column, digest in column_digests(paths).items():
            parts[f"{name}: column {column}"] = digest
    if figures:
        parts["figures"] = numbers_digest([figures])
    return parts


def run_digests(root: Path) -> dict[str, dict[str, str]]:
    """Stage folder → parts → digest, of every run below a folder."""
    stages: dict[str, dict[str, str]] = {}
    for path in sorted(root.rglob("run.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for stage in record.get("stages", []):
            if "folder" in stage:
                folder = path.parent / stage["folder"]
                name = folder.relative_to(root).as_posix()
                stages[name] = stage_digests(folder, stage.get("figures") or {})
    return stages


# --- Comparing ------------------------------------------------------------------------------------------------------


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The parts of a stage that differ; one that has only another name is the same."""
    changed = [name for name in before if name in after and before[name] != after[name]]
    gone = [name for name in before if name not in after]
    unmatched = [after[name] for name in after if name not in before]
    for name in gone:
        if before[name] in unmatched:
            unmatched.remove(before[name])
        else:
            changed.append(f"{name} (missing)")
    return sorted(changed)


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """Print same or different for each stage of each example; returns how many differ."""
    for key in ("machine", "libraries", "lines"):
        if before.get(key) != after.get(key):
            print(f"note: {key} differs: {before.get(key)} and {after.get(key)}")
    different = same = 0
    for name, old in before["examples"].items():
        new = after["examples"].get(name)
        if new is None:
            print(f"{name:<20} not run after")
            different += len(old["stages"])
            continue
        for when, result in (("before", old), ("after", new)):
            if "error" in result:
                print(f"{name:<20} stopped {when}: {result['error']}")
        for stage, parts in old["stages"].items():
            changed = differences(parts, new["stages"][stage]) if stage in new["stages"] else ["(missing)"]
            different += bool(changed)
            same += not changed
            print(f"{name:<20} {stage:<32} {'different: ' + ', '.join(changed) if changed else 'same'}")
    print(f"{same} stages are the same, {different} differ")
    return different


def libraries() -> dict[str, str]:
    """The versions of what trainings depend on."""
    versions = {"python": platform.python_version()}
    for name in ("numpy", "torch", "ctranslate2", "sentencepiece", "pyarrow", "duckdb", "numba"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return versions


def machine() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    """Run the examples and write their digests, or compare two such files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, default=Path(__file__).parents[1], help="the checkout to run")
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("-o", "--output", type=Path, help="JSON file of digests; examples in it are kept")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="examples to run, by file name without .toml")
    parser.add_argument("--lines", type=int, default=200, help="lines of each data file (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="processes of a run (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds an example may take")
    parser.add_argument("--scratch", type=Path, help="keep copies and runs there; runs in it are resumed")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="compare two files")
    options = parser.parse_args()
    if options.compare:
        sys.exit(bool(compare(*(json.loads(path.read_text(encoding="utf-8")) for path in options.compare))))
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    known = [example.name for example in EXAMPLES]
    for name in options.only or ():
        if name not in known:
            parser.error(f"unknown example '{name}': expected one of {', '.join(known)}")
    record: dict[str, Any] = {
        "machine": machine(),
        "libraries": libraries(),
        "lines": options.lines,
        "examples": {},
    }
    if options.output and options.output.exists():
        record["examples"] = json.loads(options.output.read_text(encoding="utf-8"))["examples"]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (options.scratch or Path(temporary)).absolute()
        scratch.mkdir(parents=True, exist_ok=True)
        workshop = Workshop(
            options.repo.absolute(), options.data, scratch, options.lines, options.workers, options.timeout
        )
        for example in EXAMPLES:
            if options.only and example.name not in options.only:
                continue
            start = time.perf_counter()
            result: dict[str, Any] = {}
            try:
                workshop.run(example)
            except CommandError as error:
                result["error"] = str(error)
            result["stages"] = run_digests(scratch / "runs" / example.name)
            record["examples"][example.name] = result
            outcome = f"{len(result['stages'])} stages" + (f", then: {result['error']}" if "error" in result else "")
            print(f"{example.name:<20} {time.perf_counter() - start:6.0f} s  {outcome}", flush=True)
            for stage, parts in result["stages"].items():
                print(f"    {sha(f'{part} {digest}'.encode() for part, digest in parts.items())}  {stage}")
            if options.output:
                options.output.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
