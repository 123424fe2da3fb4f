"""Paraphrases of texts, and of files of any size: one selection, whatever paraphrases."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

from paraloom.api.endpoints import with_answers
from paraloom.api.nested_records import RewrittenRecords, answers_of, record_stage, rewrite_records
from paraloom.api.paraphrase_sources import AnyParaphraser, as_paraphraser, open_selector
from paraloom.api.run import estimate_stages, input_stages, run_stages
from paraloom.api.translators import translator_stages
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike, ParaphraserLike
from paraloom.core.stage import Ref, Stage
from paraloom.io import open_write
from paraloom.io.compression import PIPE, read_raw_lines, without_compression
from paraloom.io.documents import TEXT, is_document
from paraloom.io.formats.columns import is_path
from paraloom.io.tables import check_lines, columns_of_file
from paraloom.io.texts import is_nested
from paraloom.mt.endpoint_config import is_endpoint
from paraloom.paraphrasing.candidates import (
    SelectingParaphraser,
    candidates_of,
    combined,
    language_of_paraphraser,
)
from paraloom.paraphrasing.control import warn_of_distance
from paraloom.paraphrasing.paraphraser import AUTO, EXEMPLAR_HEIGHT
from paraloom.paraphrasing.references import ROUND_TRIP, RoundTripReference
from paraloom.paraphrasing.selection import OTHER_TEMPLATE, SelectedParaphrase
from paraloom.paraphrasing.selection_config import CandidateSelection
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.paraphrasing import (
    Paraphrase,
    check_change_language,
    check_text_language,
    is_judged,
    trained_parts,
)
from paraloom.stages.sentences import ReadSentences
from paraloom.text.sequences import list_of_strings

if TYPE_CHECKING:
    from paraloom.pipeline.estimate import RunEstimate

Preset: TypeAlias = Literal["strict", "balanced", "loose", "none"]

Change: TypeAlias = Literal["word", "order", "contraction"]

DEFAULT_N = 3
"""Paraphrases of each text at most, by default."""

_SHARD_ROWS = 200
"""Texts of a shard: what a run that was stopped loses at most of each worker."""

_MAX_LENGTH = 100_000
"""Characters of a text; the paraphrasers take long ones in parts."""

SIDES: tuple[Literal["", "text", "src", "tgt"], ...] = ("", "text", "src", "tgt")
"""What of a corpus is paraphrased; '' for what it has."""

_FILE_NAME = re.compile(r"\S*[^\s.]\.[A-Za-z][A-Za-z0-9]{1,7}|\S*/\S*")
"""A word that is more likely the name of a file, or a path, than a text."""


class WritingSettings(TypedDict, total=False):
    """Keywords of `paraphrase` that files of texts have as well, for type checkers."""

    preset: Preset
    meaning: float | None
    difference: float | None
    change: Change | None
    candidates: int
    judge: str | Path | None
    template: str | None
    like: str | None
    height: int
    decode: str | None
    check_languages: bool


class ParaphraseSettings(WritingSettings, total=False):
    """Keywords of `paraphrase`, for type checkers."""

    n: int
    encoder: str | Path | EncoderLike | None
    seed: int


AnyParaphrasers: TypeAlias = "AnyParaphraser | Sequence[AnyParaphraser]"


@overload
def paraphrase(  # type: ignore[overload-overlap]
    texts: str, paraphraser: AnyParaphrasers = ..., **settings: Unpack[ParaphraseSettings]
) -> list[SelectedParaphrase]: ...


@overload
def paraphrase(
    texts: Iterable[str], paraphraser: AnyParaphrasers = ..., **settings: Unpack[ParaphraseSettings]
) -> list[list[SelectedParaphrase]]: ...


def paraphrase(
    texts: str | Iterable[str],
    paraphraser: AnyParaphraser | Sequence[AnyParaphraser] = "english",
    *,
    n: int = DEFAULT_N,
    preset: Preset = "strict",
    meaning: float | None = None,
    difference: float | None = None,
    change: Change | None = None,
    candidates: int = CandidateSelection.candidates,
    encoder: str | Path | EncoderLike | None = "english",
    judge: str | Path | None = None,
    template: str | None = None,
    like: str | None = None,
    height: int = EXEMPLAR_HEIGHT,
    decode: str | None = None,
    check_languages: bool = True,
    seed: int = 1,
) -> list[SelectedParaphrase] | list[list[SelectedParaphrase]]:
    """Paraphrase texts, and keep what has their meaning and other words: none of a text, if none is good enough.

    Args:
        texts: One text, or several.
        paraphraser: 'english', the folder of a trained one, 'round-trip:en-de,de-en,pivots=3', an endpoint such as
            'http://127.0.0.1:8000/v1?model=qwen3&language=en', a paraphraser, or a function from a list of texts to a
            list of paraphrases; or a list of these, whose candidates are combined.
        n: Paraphrases of each text at most.
        preset: What is kept of the candidates: 'strict', 'balanced' or 'loose'; 'none' keeps what the paraphraser
            gives.
        meaning: Minimum cosine to the text, 0 to 1, instead of the preset's: 0.65 is loose, 0.85 close.
        difference: Minimum share of words that differ from the text, 0 to 1, instead of the preset's.
        change: Kind of change that is kept: 'word', 'order' or 'contraction', as English words show it. Default: any.
        candidates: Candidates of each text to select from, of each paraphraser.
        encoder: What measures meaning: an encoder or its name; None or 'none' does not measure it.
        judge: The folder of a judge, which reads a text and a candidate at once; 'none' does not ask one. Default: the
            bundled one, for English by trained paraphrasers and round trips.
        template: Of trained paraphrasers: syntax to follow, such as '(S (NP) (VP) (.))', or 'auto'.
        like: Of trained paraphrasers, instead of `template`: a sentence whose syntax to follow.
        height: Levels of the tree of `like` to follow; 0 for all.
        decode: How to decode, such as 'nucleus:0.95'.
        check_languages: Refuse texts in another language than the paraphraser's.
        seed: Seed of every random choice.

    Returns:
        Of one text its paraphrases, the best first; of several a list of these. Each has `text`, `meaning`,
        `difference`, `fluency`, and `changes`, its kinds of change between commas.

    Raises:
        ConfigError: A value is out of its range, or has no effect.
        DataError: The texts are in another language.

    Example:
        >>> [one.text for one in paraphrase("The film was good.", lambda texts: ["The movie was good."])]
        ['The movie was good.']
        >>> paraphrase(["The film was good."], lambda texts: ["Stocks fell."])
        [[]]
    """
    thresholds: dict[str, Any] = {"meaning": meaning, "difference": difference, "change": change or ""}
    wanted = CandidateSelection(preset=preset, candidates=candidates, **thresholds)
    if template is not None and like is not None:
        raise ConfigError("'template' and 'like' cannot be combined", remedy="Give one of them.")
    given = [texts] if isinstance(texts, str) else list_of_strings(texts)
    several = paraphraser if isinstance(paraphraser, list) else [paraphraser]
    how: dict[str, Any] = {"template": template, "like": like, "height": height or None, "decode": decode}
    parts = [_controlled(opened, wanted.selects, how) for opened in map(as_paraphraser, several)]
    source = combined(parts)
    check_change_language(wanted.change, source)
    if check_languages:
        check_text_language(given, source)
    selector = None
    if wanted.selects:
        language = language_of_paraphraser(source)
        judged = judge or (None if is_judged(source) else "none")
        selector = open_selector(preset, **thresholds, encoder=encoder, judge=judged, language=language)
    groups, selection = SelectingParaphraser(source, selector, n=n, candidates=candidates).answer(given, seed=seed)
    if like is not None or template not in (None, AUTO):
        warn_of_distance(given, groups)  # type: ignore[arg-type]
    return selection.kept[0] if isinstance(texts, str) else selection.kept


def _controlled(opened: ParaphraserLike, selects: bool, how: Mapping[str, Any]) -> ParaphraserLike:
    """A paraphraser that writes as it is asked to: by a template or like an exemplar if it is a trained one."""
    trained = next(trained_parts(opened), None)
    if trained is not None:
        return candidates_of(trained, selects=selects, **how)
    if how["template"] is not None or how["like"] is not None:
        raise ConfigError("'template' and 'like' are for a trained paraphraser", remedy="Name english, or its folder.")
    if how["decode"] is not None and hasattr(opened, "decode"):
        opened.decode = how["decode"]
    return opened


@dataclass(frozen=True)
class ParaphrasedFiles:
    """What became of the texts of files."""

    texts: int  # Number of texts that were read and not empty
    answered: int  # Of how many there are paraphrases that are good enough
    paraphrases: int  # Number of paraphrases
    dropped: Mapping[str, int]  # Why candidates were dropped, and how many of them
    result: RunResult  # The stages, with their counts; its `folder` is the output
    rows: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()  # Without an output: each text and its paraphrases
    records: RewrittenRecords | None = None  # Of texts at a path in records: what became of them

    @property
    def without(self) -> str:
        """What is said of a text without a paraphrase."""
        return f"none{' has the template and' if OTHER_TEMPLATE in self.dropped else ''} is good enough"

    def format(self) -> str:
        """How many texts have paraphrases, how many have none, and why candidates were dropped."""
        noun, verb = ("text", "has") if self.texts == 1 else ("texts", "have")
        lines = [f"{self.answered:,} of {self.texts:,} {noun} {verb} a paraphrase, {self.paraphrases:,} in all"]
        if none := self.texts - self.answered:
            lines[0] += f"; {self.without} for {none:,}"
        if self.dropped:
            counts = "; ".join(f"{count:,} {reason}" for reason, count in Counter(self.dropped).most_common())
            lines.append(f"candidates that were dropped: {counts}")
        if self.records is not None:
            lines.append(self.records.format())
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The counts."""
        usage = self.result.stages[-1].figures
        return {
            "texts": self.texts,
            "answered": self.answered,
            "none": self.texts - self.answered,
            "paraphrases": self.paraphrases,
            "dropped": dict(self.dropped),
            **({"endpoint": dict(usage)} if usage else {}),
            **({"records": self.records.to_dict()} if self.records else {}),
        }


def paraphrase_files(
    texts: str | Path | Sequence[str | Path],
    output: str | Path = PIPE,
    *,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    **options: Any,
) -> ParaphrasedFiles:
    """Paraphrase texts and files; if stopped, the same call resumes."""
    target = str(output)
    lines = _is_text_file(target)
    with paraphrase_stages(texts, output, on_error=on_error, **options) as stages:
        stage = stages[-1]
        rows: list[tuple[str, list[dict[str, Any]]]] = []
        written: list[RewrittenRecords] = []
        rewrites = _rewrites(stages[0])

        def deliver(result: RunResult, path: str) -> list[dict[str, Any]]:
            if isinstance(stages[0], ReadSentences) and rewrites:
                return rewrite_records(result, stages[0], path, "without a good paraphrase", written)
            source = stage.input if isinstance(stage.input, Path) else result.stages[0].folder
            answers = answers_of(source, result.stages[-1].folder, stage.column)
            if lines:
                _write_lines(answers, result, path)
            else:
                rows.extend((original, kept) for _, original, kept in answers)
            return []

        result = run_stages(
            stages,
            target,
            seed=seed,
            engine=engine,
            workers=workers,
            on_error=on_error,
            deliver=deliver if lines or rewrites or target == PIPE else None,
        )
    counts = result.stages[-1].counts
    dropped = dict(result.stages[-1].reasons)
    if not counts.read:
        raise DataError("the text is empty", remedy="Give a sentence.")
    records = written[0] if written else None
    return ParaphrasedFiles(counts.read, counts.kept, counts.out, dropped, result, rows, records)


def plan_paraphrases(
    texts: str | Path | Sequence[str | Path],
    output: str | Path = PIPE,
    *,
    plan_rows: int = 300,
    workers: int | None = None,
    seed: int = 1,
    **options: Any,
) -> RunEstimate:
    """Measure on samples of the texts what `paraphrase_files` will take: requests, time, memory and disk."""
    with paraphrase_stages(texts, output, **options) as stages:
        return estimate_stages(stages, str(output), rows=plan_rows, seed=seed, workers=workers)


def _is_text_file(output: str) -> bool:
    return output != PIPE and without_compression(output).suffix == ".txt"


@contextmanager
def paraphrase_stages(
    texts: str | Path | Sequence[str | Path],
    output: str | Path = PIPE,
    *,
    paraphraser: str | Sequence[str] = "english",
    n: int | None = None,
    encoder: str | Path | None = "english",
    text: bool = False,
    column: str | None = None,
    on_error: OnError = "stop",
    **settings: Unpack[WritingSettings],
) -> Iterator[list[Any]]:
    """The stages that read the texts, load what paraphrasers need, and paraphrase; the last one is a `Paraphrase`.

    Texts that are not in files, and standard input, are in temporary ones as long as the block lasts.

    Args:
        texts: Texts; files with one on each line, tables, pairs and corpus folders; - is standard input.
        output: Where to write: .txt has the best paraphrase of each text, an empty line where none is good enough;
            .tsv, .jsonl and .parquet have a row for each. Default: print them.
        paraphraser: english, a folder of `train paraphraser`, round-trip:en-de,de-en,pivots=3, or the address of an
            endpoint: 'http://127.0.0.1:8000/v1?model=qwen3&language=en'. Repeatable: the candidates of all.
        n: Paraphrases of each text at most. Default: 3; 1 for .txt.
        encoder: Encoder that measures meaning; none does not measure it.
        text: All that is named is text, even if it is the name of a file.
        column: Of pairs the side to paraphrase, src or tgt; of a table of texts its column, a name, or without a header
            its number from 1; of nested records a path such as messages.*.content, $.text or $.2: the output has the
            same records, with the best paraphrase in place of each sentence, as a .md, .html, .srt or .vtt has.
        **settings: The other keywords of `paraphrase`.
    """
    if unknown := set(settings) - set(WritingSettings.__annotations__):
        raise TypeError(f"paraphrase_stages() got an unexpected keyword argument '{min(unknown)}'")
    target = str(output)
    lines = _is_text_file(target)
    if lines and n is not None and n > 1:
        raise ConfigError(
            f"{n} paraphrases of each text do not fit a text file", remedy="Name an output such as out.tsv, or -n 1."
        )
    loading, names = _paraphraser_stages(as_list(paraphraser), target)
    with ExitStack() as stack:
        named = as_list(texts)
        reading, source, side = _text_stages(named, target, n, stack, text=text, column=column, on_error=on_error)
        given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
        given["encoder"] = _encoder(encoder)
        if "judge" in given:
            given["judge"] = _encoder(given["judge"])
        if given.get("preset") == "none":
            given |= {"encoder": None, "judge": None}
        n = n or (1 if lines or _rewrites(source) else DEFAULT_N)
        stage = Paraphrase(input=source, column=side, paraphraser=names, n=n, **given)
        yield [*reading, *loading, stage]


def _rewrites(source: object) -> bool:
    """Whether a stage reads texts inside records, which are written again."""
    return isinstance(source, ReadSentences) and is_path(source.field)


def _record_stage(texts: Sequence[str | Path], output: str, column: str, n: int, on_error: OnError) -> ReadSentences:
    """The stage that reads texts inside the records of one file, which one paraphrase replaces."""
    if len(texts) > 1 or output == PIPE or n > 1:
        raise ConfigError(
            f"the texts at '{column}' are replaced by one paraphrase each, in a copy of one file",
            remedy="Name one file and an output, and leave out -n.",
        )
    return record_stage(Path(texts[0]), column, output, on_error=on_error, shard_rows=_SHARD_ROWS)


def _encoder(encoder: str | Path | None) -> str | Path:
    if encoder is None or str(encoder) == "none":
        return "none"
    return Path(encoder).absolute() if Path(encoder).is_dir() else str(encoder)


def _paraphraser_stages(references: Sequence[str], output: str) -> tuple[list[Stage], tuple[Ref, ...]]:
    stages: list[Stage] = []
    names: list[Ref] = []
    for number, reference in enumerate(references, start=1):
        if reference.startswith(ROUND_TRIP):
            trip = RoundTripReference.parse(reference)
            ends = []
            for name, translator in (("forward", trip.forward), ("backward", trip.backward)):
                loading, model, _ = translator_stages(translator, name=f"{name}-{number}")
                stages += loading
                ends.append(model.name if isinstance(model, Stage) else str(model))
            names.append(str(trip._replace(forward=ends[0], backward=ends[1])))
        elif is_endpoint(reference):
            names.append(with_answers(reference, output))
        else:
            names.append(Path(reference).absolute() if Path(reference).is_dir() else reference)
    return stages, tuple(names)


def _text_stages(
    texts: Sequence[str | Path],
    output: str,
    n: int | None,
    stack: ExitStack,
    *,
    text: bool,
    column: str | None,
    on_error: OnError,
) -> tuple[list[Stage], Ref, Literal["", "text", "src", "tgt"]]:
    """The stages that read texts, files or pairs, what a stage maps, and the side of pairs."""
    if not text and (path := _path_within(texts, output, column)):
        records = _record_stage(texts, output, path, n or 1, on_error)
        return [records], records, ""
    files: list[str | Path] = [] if text else _named_files(texts, stack)
    if not files:
        files, column = [_spooled_texts(texts, stack)], None
    side = next((name for name in SIDES if name == (column or "")), None)
    if side is not None and (pairs := _pairs_among(files)):
        return *input_stages(pairs, on_error=on_error, shard_rows=_SHARD_ROWS), side
    lines = _line_stage(tuple(Path(one).absolute() for one in files), column, on_error)
    return [lines], lines, ""


def _pairs_among(files: Sequence[str | Path]) -> str:
    """The file of pairs; '' where all have texts."""
    pairs = [one for one in files if _holds_pairs(Path(one))]
    if pairs and len(files) > 1:
        raise ConfigError(f"'{pairs[0]}' is not a file of texts", remedy="Paraphrase it by itself.")
    return str(pairs[0]) if pairs else ""


def _path_within(texts: Sequence[str | Path], output: str, column: str | None) -> str:
    """The path of texts inside records or a document; '' where none of the files has any."""
    column = column or (f"$.{TEXT}" if any(is_document(one, output) for one in texts) else "")
    return column if any(is_nested(one, column) for one in texts) else ""


def _named_files(texts: Sequence[str | Path], stack: ExitStack) -> list[str | Path]:
    """The files that are named, that of standard input among them; none if all are texts."""
    named = [one for one in texts if _names_input(one)]
    if named and len(named) < len(texts):
        other = next(one for one in texts if one not in named)
        raise ConfigError(
            f"'{other}' is a text, and '{named[0]}' a file", remedy="Give either; --text says that all are texts."
        )
    return [
        _spooled("standard input", (line + b"\n" for line in read_raw_lines(PIPE)), stack) if str(one) == PIPE else one
        for one in named
    ]


def _spooled_texts(texts: Sequence[str | Path], stack: ExitStack) -> Path:
    lines = [" ".join(str(one).split()) for one in texts]
    if not lines or not all(lines):
        raise DataError("the text is empty", remedy="Give a sentence.")
    return _spooled("texts", (f"{line}\n".encode() for line in lines), stack)


def _line_stage(paths: tuple[Path, ...], column: str | None, on_error: OnError) -> ReadSentences:
    """The stage that reads a text from each line: a column of tables, named `text` if nobody says which."""
    if not column:
        for path in paths:
            if "text" not in columns_of_file(path):
                check_lines(path)
        column = "text" if "text" in columns_of_file(paths[0]) else ""
    number: int | str = int(column) if column.lstrip("-").isdecimal() else column or 0
    return ReadSentences(
        name="input",
        text_files=paths,
        field=0 if paths[0].suffix == ".jsonl" and number == "text" else number,
        lang="und",
        max_length=_MAX_LENGTH,
        distinct=False,
        shard_rows=_SHARD_ROWS,
        bad_rows=on_error,
    )


def _names_input(text: str | Path) -> bool:
    """Whether a text names a file or folder; raises ConfigError for a word that looks like one, and does not exist."""
    name = str(text)
    if name == PIPE or isinstance(text, Path):
        return True
    try:
        exists = bool(name.strip()) and ("\n" not in name) and Path(name).exists()
    except OSError:  # too long for the name of a file
        return False
    if not exists and _FILE_NAME.fullmatch(name):
        raise ConfigError(
            f"'{name}' looks like the name of a file, and there is none",
            remedy="Is it a file? Check the name and the folder. Is it a text? Say so: --text.",
        )
    return exists


def _holds_pairs(path: Path) -> bool:
    if path.is_dir():
        return True
    suffix = without_compression(path).suffix
    names = columns_of_file(path)
    return suffix in (".parquet", ".tmx") or {"src", "tgt"} <= set(names)


def _spooled(name: str, lines: Iterable[bytes], stack: ExitStack) -> Path:
    """A file of lines that can be read again; what depends on it depends on its content, not on where it is."""
    path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / name
    with path.open("wb") as stream:
        stream.writelines(lines)
        if not stream.tell():
            raise DataError(f"{name} is empty", remedy="Check the program that should have written it.")
    return path


def _write_lines(answers: Iterator[tuple[int, str, list[dict[str, Any]]]], result: RunResult, path: str) -> None:
    """The best paraphrase of each text, on the line that it has in the input."""
    lines = 0
    with open_write(path) as stream:
        for number, _, kept in answers:
            stream.write(b"\n" * (number - lines))
            stream.write(f"{kept[0]['text'] if kept else ''}\n".encode())
            lines = number + 1
        if result.stages[0].kind == "source":
            stream.write(b"\n" * (result.stages[0].counts.read - lines))
