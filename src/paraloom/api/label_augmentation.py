"""More rows for a labeled set: paraphrases that keep the label, with where they come from in columns."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.api.labeled_sets import LabeledSet, label_key, survey_labeled_set
from paraloom.api.named_models import NO_ENCODER, named_encoder, named_judge, named_protector
from paraloom.api.outputs import check_output
from paraloom.api.paraphrase_sources import AnyParaphraser, as_paraphraser, open_selector
from paraloom.core.batches import batched
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike, ParaphraserLike
from paraloom.core.seeds import generator, spawn_seed
from paraloom.io.records import record_format, with_columns, write_records
from paraloom.paraphrasing.augmentation import NOTHING_TO_SAY, LabelAugmenter, method_name
from paraloom.paraphrasing.quotas import RowQuota, label_quotas
from paraloom.paraphrasing.selection import ParaphraseSelector, SelectedParaphrase
from paraloom.paraphrasing.selection_config import SelectionConfig
from paraloom.pipeline.shard import OnError
from paraloom.stages.paraphrasing import check_text_language, is_judged, language_of_paraphraser

FROM, BY, MEANING, DIFFERENCE, FLUENCY = PROVENANCE = (
    *("augmented_from", "augmented_by", "augmented_meaning", "augmented_difference", "augmented_fluency"),
)
"""Columns that are added: row of the input, from 1 (null for the rows of the input themselves); kind of paraphraser and
a digest of it and of the selection; cosine to the text; difference from it; fluency."""

_TYPES = {FROM: pa.int64(), BY: pa.string(), MEANING: pa.float64(), DIFFERENCE: pa.float64(), FLUENCY: pa.float64()}
_BATCH = 128
_SHOWN_LABELS = 20


@dataclass(frozen=True)
class LabelCount:
    """Rows of one label.

    Args:
        label: The label.
        rows: Rows of the input.
        wanted: New rows that were wanted.
        new: New rows.
    """

    label: str
    rows: int
    wanted: int
    new: int


@dataclass(frozen=True)
class LabelAugmentation:
    """What `augment_labels` wrote.

    Args:
        output: The file.
        text: Column of the texts.
        label: Column of the labels.
        rows: Rows of the input that were used.
        new: New rows.
        written: Rows of the output.
        labels: Counts of each label, the commonest first.
        dropped: Reason → candidates that were dropped.
        unused: Texts that were not paraphrased, because nothing but placeholders is in them.
        method: What made the new rows, as in the column `augmented_by`.
    """

    output: str
    text: str
    label: str
    rows: int
    new: int
    written: int
    labels: tuple[LabelCount, ...]
    dropped: dict[str, int]
    unused: int
    method: str

    def format(self) -> str:
        """A table of labels, and why candidates were dropped."""
        lines = [f"text: {self.text}; label: {self.label}", f"{'rows':>6} {'new':>8}  label"]
        for one in self.labels[:_SHOWN_LABELS]:
            short = f" ({one.wanted:,} wanted)" if one.new < one.wanted else ""
            lines.append(f"{one.rows:>6,} {one.new:>8,}  {one.label}{short}")
        if rest := self.labels[_SHOWN_LABELS:]:
            rows, new = sum(one.rows for one in rest), sum(one.new for one in rest)
            lines.append(f"{rows:>6,} {new:>8,}  {len(rest):,} other labels")
        lines.append(f"{self.rows:>6,} {self.new:>8,}  all")
        if self.dropped:
            ranked = sorted(self.dropped.items(), key=lambda item: -item[1])
            lines.append("dropped: " + "; ".join(f"{count:,} {reason}" for reason, count in ranked))
        if self.unused:
            lines.append(f"{self.unused:,} texts have too few words outside of placeholders to be paraphrased")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def augment_labels(
    source: str | Path,
    paraphraser: AnyParaphraser,
    output: str | Path,
    *,
    text: str | int | None = None,
    label: str | int | None = None,
    n: int = 1,
    balance: bool = False,
    selection: str | SelectionConfig = "balanced",
    encoder: str | Path | EncoderLike | None = "english",
    check_languages: bool = True,
    on_error: OnError = "stop",
    seed: int = 1,
) -> LabelAugmentation:
    """Add paraphrases to a labeled set, with the label of the text that they paraphrase.

    For research: no classifier that we measured gained from it. Near copies, other meanings and repetitions are left
    out, as `paraphrase` does. Numbers, links, names and markup are replaced by placeholders before a text is
    paraphrased, and put back. All other columns are copied from the row of the text. The set is read in batches, and
    the output appears whole or not at all.

    Args:
        source: The set: .jsonl, .csv, .tsv or .parquet.
        paraphraser: english, a folder of `train paraphraser`, round-trip:en-de,de-en,pivots=3, or the address of an
            endpoint: 'http://127.0.0.1:8000/v1?model=qwen3&language=en'; repeatable. In Python also a paraphraser, the
            two translators of a round trip such as ('en-de', 'de-en'), or a function from a list of texts to a list of
            paraphrases, or of lists of them.
        output: The larger set, in any of these formats; its columns are those of `source` and `PROVENANCE`.
        text: Column of the texts: a name, or the number in a table without a header; default: text, sentence, question.
        label: Column of the labels, in the same way; default: label, class, intent. Numbers and lists count as labels,
            too.
        n: Maximum number of new rows from each row, 1 or more.
        balance: Fill up the labels to the commonest one, as far as n new rows from each row reach.
        selection: Preset of what is kept of the candidates; in Python also thresholds.
        encoder: Encoder that measures meaning, or its name; none: meaning is not measured.
        check_languages: Stop, before any work, at texts in another language than the paraphraser's.
        on_error: 'stop' at a row without text or label, or one that cannot be read; or 'reject' it into
            OUTPUT.rejected.jsonl.
        seed: Seed for sampling, and for the choice of rows where not all are needed.

    Returns:
        Row counts by label, and why candidates were dropped.

    Raises:
        ConfigError: A column was not noticed, or an option is out of its range.
        DataError: A row is bad (with its number), all rows have one label, or the texts are in another language.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "set.csv").write_text("text,label\\nCall me at 5 please,ask\\nThe film was bad,rate\\n")
        >>> def reword(texts):
        ...     return [text.replace("please", "today").replace("film", "movie") for text in texts]
        >>> result = augment_labels(folder / "set.csv", reword, folder / "more.csv", encoder=None)
        >>> print((folder / "more.csv").read_text().splitlines()[-1][:25])
        The movie was bad,rate,2,
    """
    check_output(output, [source])
    record_format(output)
    opened = as_paraphraser(paraphraser, output=str(output))
    language = language_of_paraphraser(opened)
    labeled = survey_labeled_set(source, text=text, label=label, on_error=on_error)
    if again := next((name for name in PROVENANCE if name in labeled.columns), None):
        raise ConfigError(
            f"the set has a column '{again}': it was augmented before",
            file=source,
            remedy="Give the set as it was before, or rename that column.",
        )
    if check_languages:
        try:
            check_text_language(labeled.sample, opened)
        except DataError as error:
            raise error.at(file=source) from None
    quotas = label_quotas(labeled.counts, n, balance=balance)
    selector = _selector(opened, selection, encoder)
    augmenter = LabelAugmenter(opened, selector, named_protector(language=language))
    method = method_name(opened, selector)
    new_counts: Counter[Hashable] = Counter()

    def rows() -> Iterator[dict[str, Any]]:
        empty = dict.fromkeys(PROVENANCE)
        yield from (record.values | empty for record in labeled.records())
        yield from _new_rows(labeled, augmenter, quotas, n, method, new_counts, seed)

    schema = with_columns(labeled.schema(), _TYPES) if record_format(output) == ".parquet" else None
    columns = [*labeled.columns, *PROVENANCE]
    written = write_records(rows(), output, columns, schema, header=labeled.header)
    labeled.rejected.report(output)
    unused = augmenter.dropped.pop(NOTHING_TO_SAY, 0)
    counts = tuple(
        LabelCount(labeled.names[key], count, quotas[key], new_counts[key])
        for key, count in labeled.counts.most_common()
    )
    result = LabelAugmentation(
        *(str(output), labeled.text, labeled.label, labeled.counts.total(), new_counts.total(), written, counts),
        *(dict(augmenter.dropped), unused, method),
    )
    _warn_of_few(result)
    return result


def _selector(
    paraphraser: ParaphraserLike, selection: str | SelectionConfig, encoder: str | Path | EncoderLike | None
) -> ParaphraseSelector:
    """The selection of what a paraphraser writes, with the judge where `paraphrase` asks it."""
    language = language_of_paraphraser(paraphraser)
    judge = NO_ENCODER if not is_judged(paraphraser) else None
    if isinstance(selection, str):
        return open_selector(selection, encoder=encoder, judge=judge, language=language)
    return ParaphraseSelector(selection, named_encoder(encoder, language), judge=named_judge(judge, language))


def _new_rows(
    labeled: LabeledSet,
    augmenter: LabelAugmenter,
    quotas: dict[Hashable, int],
    n: int,
    method: str,
    new_counts: Counter[Hashable],
    seed: int,
) -> Iterator[dict[str, Any]]:
    """The paraphrases of all rows, in the order of the rows."""
    augmenter.know(record.values[labeled.text] for record in labeled.records())
    random = generator(seed, 0)
    open_quotas = {key: RowQuota(quotas[key], count, n, random) for key, count in labeled.counts.items()}
    records = labeled.records()
    with progress("paraphrasing", labeled.counts.total(), unit="texts") as advance:
        for number, batch in enumerate(batched(records, _BATCH)):
            keys = [label_key(record.values[labeled.label]) for record in batch]
            wanted = [open_quotas[key].wanted() for key in keys]
            texts = [record.values[labeled.text] for record in batch]
            groups = augmenter.augment(texts, wanted, seed=spawn_seed(seed, number))
            for record, key, count, group in zip(batch, keys, wanted, groups, strict=True):
                open_quotas[key].missed(count - len(group))
                new_counts[key] += len(group)
                for one in group:
                    yield record.values | {labeled.text: one.text} | _provenance(record.row, method, one)
            advance(len(batch))


def _provenance(row: int, method: str, one: SelectedParaphrase) -> dict[str, Any]:
    scores = {MEANING: one.meaning, DIFFERENCE: one.difference, FLUENCY: one.fluency}
    rounded = {name: None if math.isnan(value) else round(value, 4) for name, value in scores.items()}
    return {FROM: row, BY: method, **rounded}


def _warn_of_few(result: LabelAugmentation) -> None:
    wanted = sum(one.wanted for one in result.labels)
    if not wanted:
        warnings.warn("all labels have the same number of rows: nothing was wanted", stacklevel=3)
    elif not result.new:
        reasons: Iterable[tuple[str, int]] = Counter(result.dropped).most_common(2)
        named = ", ".join(f"{reason} ({count:,})" for reason, count in reasons) or "the paraphraser wrote nothing"
        warnings.warn(f"no paraphrase was kept; the commonest reasons: {named}", stacklevel=3)
