"""Two texts in files, aligned, and written as beads or as sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.align.delimiters import align_between_delimiters
from paraloom.align.lexicon import BilingualLexicon, read_lexicon
from paraloom.align.park17 import align_by_cosine
from paraloom.align.sentences import AlignerConfig, TextPair, align_pair, fit_aligner
from paraloom.core.beads import Bead, join_sentences
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.schema import PAIRS
from paraloom.embed.loading import open_encoder
from paraloom.io import read_lines, write_pairs
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.formats.alignments import write_beads
from paraloom.io.formats.base import file_stem, languages_in_name, origin_in_name
from paraloom.mt.translator import Translator, best_translations

METHODS: dict[str, dict[str, Any]] = {
    "evidence": {},
    "length": {"word_weight": 0.0, "prefix_weight": 0.0, "learn_lexicon": False, "rounds": 0},
    "park17": {},
}
"""Settings of the aligner by name: all the evidence there is, lengths alone, or Park et al.'s formula (align.cosine).
"""

_BEADS = (".vecalign", ".ladder", ".parquet")
_PAIRS = (".tsv", ".tmx", ".jsonl", "")


@dataclass(frozen=True)
class AlignmentCounts:
    """What became of the sentences: aligned on each side, and left alone on each side."""

    beads: int
    aligned: tuple[int, int]
    alone: tuple[int, int]

    def render(self) -> str:
        """One line.

        >>> AlignmentCounts(1, (1, 2), (0, 1)).render()
        'aligned: 1 bead of 1 and 2 sentences; without a counterpart: 0 and 1'
        """
        word = "bead" if self.beads == 1 else "beads"
        return (
            f"aligned: {self.beads:,} {word} of {self.aligned[0]:,} and {self.aligned[1]:,} sentences; "
            f"without a counterpart: {self.alone[0]:,} and {self.alone[1]:,}"
        )


def config_of(method: str, most: int) -> AlignerConfig:
    """The aligner's settings; raises ConfigError for a method that is not in METHODS and a count that cannot be."""
    if method not in METHODS:
        raise ConfigError(f"there is no method '{method}'{nearest(method, list(METHODS))}")
    config = AlignerConfig(max_bead_size=most, **METHODS[method])
    config.check()
    return config


def align_files(
    source: str,
    target: str,
    output: str,
    *,
    translations: Sequence[str] = (),
    target_translations: Sequence[str] = (),
    translator: Path | None = None,
    most: int = 3,
    method: str = "evidence",
    lexicon: str | None = None,
    encoder: Path | None = None,
    bound: str | None = None,
    pivot: bool = False,
    languages: tuple[str | None, str | None] = (None, None),
) -> AlignmentCounts:
    """Align two files of sentences; see `paraloom align sentences --help`.

    Raises DataError where a translation has not one line for each sentence, or a text has none.
    """
    config = config_of(method, most)
    for name, given in (("a lexicon", lexicon), ("an encoder", encoder)):
        if given is not None and method != "evidence":
            raise ConfigError(f"the method '{method}' has no use for {name}", remedy="Leave it out, or --method.")
    suffix = without_compression(output).suffix
    if suffix not in (*_BEADS, *_PAIRS) and output != PIPE and "{" not in output:
        raise ConfigError(
            f"'{output}' is no name for what an alignment becomes",
            remedy=f"For beads choose {', '.join(_BEADS)}; for the sentences {', '.join(_PAIRS[:-1])}, or a folder.",
        )
    texts = [list(read_lines(path)) for path in (source, target)]
    for path, text in zip((source, target), texts, strict=True):
        if not any(line.strip() for line in text):
            raise DataError("there is no sentence in it", file=path)
    ahead = [_translation(path, source, texts[0]) for path in translations]
    back = [_translation(path, target, texts[1]) for path in target_translations]
    if translator is not None:
        ahead.append(best_translations(Translator.load(translator), texts[0]))
    words = read_lexicon(lexicon) if lexicon is not None else None
    if pivot and (len(ahead), len(back)) != (1, 1):
        raise ConfigError(
            "a pivot is for one translation of each side",
            remedy="Give --translations (or --translator) and --target-translations, into the same language.",
        )
    read = (ahead[0] if ahead else texts[0], back[0] if pivot else texts[1])
    vectors = None
    if encoder is not None:
        opened = open_encoder(encoder)
        vectors = opened.encode(read[0]), opened.encode(read[1])
    pair = TextPair(texts[0], texts[1], ahead, back, vectors)
    if bound is None:
        pair = _in_pivot(pair) if pivot else pair
        beads = align_by_cosine(pair, most) if method == "park17" else align_pair(pair, config, words)
    else:
        parts = partial(_parts, method=method, config=config, given=words, pivot=pivot)
        beads = align_between_delimiters(pair, bound, parts)
    if suffix in _BEADS:
        write_beads(output, beads, src_doc=file_stem(source), tgt_doc=file_stem(target))
    else:
        shown = [bead for bead in beads if bound is None or not _is_bound(bead, texts[0], bound)]
        write_pairs(_pairs(shown, texts, source, languages), output)
    both = [bead for bead in beads if bead.source and bead.target]
    aligned = (sum(len(bead.source) for bead in both), sum(len(bead.target) for bead in both))
    return AlignmentCounts(len(both), aligned, (len(texts[0]) - aligned[0], len(texts[1]) - aligned[1]))


def _parts(
    parts: Sequence[TextPair],
    *,
    method: str,
    config: AlignerConfig,
    given: tuple[BilingualLexicon, BilingualLexicon] | None,
    pivot: bool,
) -> list[list[Bead]]:
    parts = [_in_pivot(part) for part in parts] if pivot else parts
    if method == "park17":
        return [align_by_cosine(part, config.max_bead_size) for part in parts]
    aligner = fit_aligner(parts, config, given)
    return [aligner.align(part) for part in parts]


def _in_pivot(pair: TextPair) -> TextPair:
    """The translations in the place of the texts."""
    return TextPair(pair.source_translations[0], pair.target_translations[0], embeddings=pair.embeddings)


def _is_bound(bead: Bead, text: Sequence[str], bound: str) -> bool:
    return len(bead.source) == 1 and text[bead.source[0]].strip() == bound


def _translation(path: str, of: str, text: Sequence[str]) -> list[str]:
    lines = list(read_lines(path))
    if len(lines) != len(text):
        raise DataError(
            f"it has {len(lines):,} lines, and {of} has {len(text):,}",
            file=path,
            row=min(len(lines), len(text)) + 1,
            remedy="A translation has one line for each sentence, in their order.",
        )
    return lines


def _pairs(
    beads: Sequence[Bead], texts: Sequence[Sequence[str]], source: str, languages: tuple[str | None, str | None]
) -> pa.Table:
    named = languages_in_name(file_stem(source)) or (None, None)
    langs = [given or found or "und" for given, found in zip(languages, named, strict=True)]
    both = [bead for bead in beads if bead.source and bead.target]
    origin = origin_in_name(file_stem(source))
    columns = {
        "pair_id": [f"{origin}:{bead.source[0] + 1}" for bead in both],
        "src": [join_sentences(texts[0], bead.source) for bead in both],
        "tgt": [join_sentences(texts[1], bead.target) for bead in both],
        "src_lang": [langs[0]] * len(both),
        "tgt_lang": [langs[1]] * len(both),
        "origin": [origin] * len(both),
    }
    return pa.table(columns, schema=PAIRS)
