"""A stage that writes both sides of pairs by one convention, so that marks do not tell references from translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.protocols import CorpusReader
from paraloom.core.stage import Json, Map, StageContext
from paraloom.stages.input_checks import check_paraphrases
from paraloom.text.buffers import Texts, string_array
from paraloom.text.normalize import normalize

# Of tokenized text, split clitics: "georgia ' s" and "do n't"; quotation marks and dashes of all kinds.
_REPLACED = (
    (r"[‘’‚‛ʼ´`]", "'"),
    (r"[“”„‟«»]|''", '"'),
    (r"[‐‑‒–—―]", "-"),
    (r"…", "..."),
    (r"(?i)(\pL) ?' ?(s|t|re|ve|ll|d|m)\b", r"\1'\2"),
    (r"(?i)(\pL) (n't)\b", r"\1\2"),
)


@dataclass(frozen=True, kw_only=True)
class OneConvention(Map):
    """Writes the quotation marks, dashes and clitics of both sides as a plain keyboard does.

    Example:
        >>> batch = pa.RecordBatch.from_pylist([{"src": "georgia ’ s “ war ”", "tgt": "Georgia's war"}])
        >>> OneConvention().apply(batch, StageContext(seed=1)).column("src").to_pylist()
        ['georgia\\'s " war "']
    """

    input_columns: ClassVar[tuple[str, ...]] = ("src", "tgt")

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        """Refuse bitext, of which tables would be made like those of paraphrases."""
        check_paraphrases(corpus, context.seed)
        return {}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with other texts."""
        for name in self.input_columns:
            index = batch.schema.get_field_index(name)
            field = batch.schema.field(index)
            batch = batch.set_column(index, field, one_convention(batch.column(index)).cast(field.type))
        return batch


def one_convention(texts: Texts) -> pa.Array:
    """Texts with plain marks."""
    changed = string_array(texts)
    for pattern, replacement in _REPLACED:
        changed = pc.replace_substring_regex(changed, pattern=pattern, replacement=replacement)
    return normalize(changed)
