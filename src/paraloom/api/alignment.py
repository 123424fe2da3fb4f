"""Two texts in files, aligned sentence by sentence and written as beads or as sentence pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.batches import as_list
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import late
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import ResultRecord
from paraloom.io.compression import PIPE, read_lines, without_compression

if TYPE_CHECKING:
    from paraloom.alignment.aligner_config import AlignerConfig
    from paraloom.alignment.prepared_pairs import LexiconPair
    from paraloom.alignment.text_pairs import AnyVectors, TextPair, Vectors
    from paraloom.api.translators import AnyTranslator

# Of files alone: `align` does without.
_path_text = late("paraloom.api.outputs:path_text")
_write_pairs = late("paraloom.io.bitext:write_pairs")
_write_beads = late("paraloom.io.formats.alignments:write_beads")
_file_stem = late("paraloom.io.formats.base:file_stem")
_languages_in_name = late("paraloom.io.formats.base:languages_in_name")
_origin_in_name = late("paraloom.io.formats.base:origin_in_name")
_languages_of_files = late("paraloom.io.formats.names:languages_of_files")

_BEADS = (".vecalign", ".ladder", ".parquet")
_PAIRS = (".tsv", ".tmx", ".jsonl", "")


@dataclass(frozen=True)
class AlignmentCounts(ResultRecord):
    """How many sentences were aligned."""

    beads: int
    aligned: tuple[int, int]
    unaligned: tuple[int, int]

    def format(self) -> str:
        word = "bead" if self.beads == 1 else "beads"
        return (
            f"aligned: {self.beads:,} {word} of {self.aligned[0]:,} and {self.aligned[1]:,} sentences; "
            f"without a counterpart: {self.unaligned[0]:,} and {self.unaligned[1]:,}"
        )


def align(
    source: Sequence[str],
    target: Sequence[str],
    *,
    source_translation: Sequence[str] | None = None,
    target_translation: Sequence[str] | None = None,
    embeddings: tuple[Vectors, Vectors] | None = None,
    lexicon: LexiconPair | None = None,
    encoder: EncoderLike | str | Path | None = ALIGNMENT_ENCODER,
    config: AlignerConfig | None = None,
) -> list[Bead]:
    """Align the sentences of two texts that are translations of each other, n to m.

    Works without any resource: lengths, shared words, the bundled encoder's vectors, and a lexicon learned from the two
    texts are the evidence.  Translations make it more accurate.

    Args:
        source: m sentences.
        target: n sentences.
        source_translation: `source` in the target language, m sentences.
        target_translation: `target` in the source language, n sentences.
        embeddings: Sentence embeddings in one space, float32 (m, d) and (n, d).
        lexicon: Bilingual lexicons from source to target and back, see `paraloom.alignment.lexicon.read_lexicon`.
        encoder: An encoder of both languages, its name or folder: its vectors of words are evidence, and without a
            translation those of sentences.  The default knows eight languages and says nothing about others; None for
            no encoder.
        config: Settings; by default beads of at most `MAX_BEAD_SIZE` sentences a side.

    Returns:
        The beads in order; every sentence is in one of them, and a sentence without a counterpart is in a bead with
        an empty other side.  `score` is the bead's natural log-likelihood ratio, higher is better.

    Raises:
        TypeError: A text is not a list of strings.
        DataError: A translation or the embeddings do not have one entry for each sentence.
        ModelError: The encoder is not found.

    Example:
        >>> beads = align(["Der Hund schläft.", "Gute Nacht."], ["The dog", "sleeps.", "Good night."])
        >>> [(bead.source, bead.target) for bead in beads]
        [((0,), (0, 1)), ((1,), (2,))]
    """
    from paraloom.alignment.sentences import align_pair
    from paraloom.alignment.text_pairs import TextPair
    from paraloom.text.sequences import list_of_strings

    source, target = list_of_strings(source), list_of_strings(target)
    forward, backward = (
        () if text is None else (list_of_strings(text),) for text in (source_translation, target_translation)
    )
    lexicons = [] if lexicon is None else [lexicon]
    vectors: tuple[AnyVectors, AnyVectors] | None = embeddings
    if encoder is not None:
        from paraloom.alignment.nearest_words import encode_texts, encoder_lexicon

        model = _opened(encoder)
        lexicons += encoder_lexicon(model, [source], [target])
        if embeddings is None and not forward and not backward:
            vectors = encode_texts(model, source, target)
    return align_pair(TextPair(source, target, forward, backward, vectors), config, lexicons)


def _opened(encoder: EncoderLike | str | Path) -> EncoderLike:
    from paraloom.embed.encoder import open_encoder

    if encoder == ALIGNMENT_ENCODER:
        return _default_encoder()
    return open_encoder(encoder)


@cache
def _default_encoder() -> EncoderLike:
    """Opened once: programs that align many short texts call `align` for each."""
    from paraloom.embed.encoder import open_encoder

    return open_encoder(ALIGNMENT_ENCODER)


@dataclass(frozen=True, kw_only=True)
class AlignFilesConfig:
    """What two files of sentences are aligned by.

    Args:
        translations: Translations of the source into the target's language, line by line: files.
        target_translations: Translations of the target into the source's language, line by line: files.
        translator: Translates the source first: a bundled name such as de-en, a folder, OWNER/NAME, or the address of
            an endpoint, each with settings as in 'NAME?from=de&to=en'.
        lexicon: File with source word, target word and perhaps a probability, between tabs; or hunalign's dictionary.
        encoder: Encoder of both languages, or of the target's language if there is a translation; none: no encoder.
            Its vectors of words and sentences are evidence.  The default knows eight languages, and is left out beside
            a translation as far as sentences are concerned.
        hard_delimiter: A line that no bead crosses, such as .EOA; '' for empty lines.
        order: strict: both in the same order; local: passages of one may be moved or missing, and beads then cross.
        pivot: The translations of both sides are into a third language, and are compared there.
        src_lang: Language of the source; default: from the files' names (`a.de`, `a.en`).
        tgt_lang: Language of the target; default: from the files' names.
        max_bead_size: Maximum number of sentences on one side of a bead.
        method: 'evidence' (all of it), 'length' (Gale and Church's lengths alone) or 'park17' (Park et al.'s formula).
    """

    translations: str | Path | Sequence[str | Path] = ()
    target_translations: str | Path | Sequence[str | Path] = ()
    translator: AnyTranslator | None = None
    lexicon: str | Path | None = None
    encoder: EncoderLike | str | Path | None = ALIGNMENT_ENCODER
    hard_delimiter: str | None = None
    order: str = "strict"
    pivot: bool = False
    src_lang: str | None = None
    tgt_lang: str | None = None
    max_bead_size: int = MAX_BEAD_SIZE
    method: str = "evidence"

    def aligner(self) -> AlignerConfig:
        """The settings of the aligner; ConfigError if one is not supported, or if the method does not use another."""
        from paraloom.alignment.methods import aligner_config

        config = aligner_config(self.method, self.max_bead_size, self.order)
        if self.method != "evidence":
            encoder = None if self.encoder == ALIGNMENT_ENCODER else self.encoder
            _refuse_evidence(self.method, {"a lexicon": self.lexicon, "an encoder": encoder})
        return config

    def languages(self, source: str, target: str) -> tuple[str | None, str | None]:
        named = _languages_in_name(_file_stem(source)) or _languages_of_files(source, target) or (None, None)
        return self.src_lang or named[0], self.tgt_lang or named[1]


class AlignFilesSettings(TypedDict, total=False):
    """Fields of `AlignFilesConfig` as keywords, so that type checkers know them."""

    translations: str | Path | Sequence[str | Path]
    target_translations: str | Path | Sequence[str | Path]
    translator: AnyTranslator | None
    lexicon: str | Path | None
    encoder: EncoderLike | str | Path | None
    hard_delimiter: str | None
    order: str
    pivot: bool
    src_lang: str | None
    tgt_lang: str | None
    max_bead_size: int
    method: str


def align_files(
    source: str | Path,
    target: str | Path,
    output: str | Path,
    config: AlignFilesConfig | None = None,
    **settings: Unpack[AlignFilesSettings],
) -> AlignmentCounts:
    """Align two files of sentences.

    Args:
        source: The source text, a sentence per line.
        target: The target text, a sentence per line.
        output: .vecalign, .ladder (hunalign's) or .parquet for links; .tsv, .tmx, .jsonl or a folder for sentences.
        config: What the texts are aligned by.
        **settings: Fields of `config`: `translations`, `translator`, `encoder`, `order`, `hard_delimiter` …

    Returns:
        How many sentences were aligned.

    Raises:
        ConfigError: The output's suffix, the method or a combination of options is not supported.
        DataError: A translation does not have one line per sentence, a text is empty, or the texts have different
            numbers of delimiters.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "de.txt").write_text("Ein Hund schläft.\\nDie Katze frisst.\\n")
        >>> _ = (folder / "en.txt").write_text("A dog sleeps.\\nThe cat eats.\\n")
        >>> align_files(folder / "de.txt", folder / "en.txt", folder / "beads.vecalign").beads
        2
    """
    config = replace(config or AlignFilesConfig(), **settings)
    in_memory, aligner = "sentences in memory use align", config.aligner()
    names = _path_text(source, in_memory), _path_text(target, in_memory)
    _check_output(_path_text(output), config.order)
    pair = _read(names, config)
    beads = _align(pair, names, config, aligner)
    _write(beads, pair, names, str(output), config)
    return _counts(beads, (pair.source, pair.target))


def _read(names: tuple[str, str], config: AlignFilesConfig) -> TextPair:
    from paraloom.alignment.text_pairs import TextPair

    texts = [read_sentences(path) for path in names]
    forward = [_translation(path, names[0], texts[0]) for path in as_list(config.translations)]
    backward = [_translation(path, names[1], texts[1]) for path in as_list(config.target_translations)]
    return TextPair(texts[0], texts[1], forward, backward)


def _align(pair: TextPair, names: tuple[str, str], config: AlignFilesConfig, aligner: AlignerConfig) -> list[Bead]:
    from paraloom.alignment.delimiters import align_between_delimiters
    from paraloom.alignment.lexicon import read_lexicon
    from paraloom.alignment.methods import PUBLISHED, fit_method
    from paraloom.alignment.sentences import align_pair

    pair = _translated(pair, names, config)
    if config.pivot and (len(pair.source_translations), len(pair.target_translations)) != (1, 1):
        raise ConfigError(
            "a pivot needs one translation of each side",
            remedy="Give translations of both sides (or a translator of the source) into one language.",
        )
    lexicons = [read_lexicon(config.lexicon)] if config.lexicon is not None else []
    if config.encoder is not None and config.method == "evidence":
        pair, words = _with_encoder(pair, config.encoder, pivot=config.pivot)
        lexicons += words
    if config.hard_delimiter is not None:
        parts = partial(_parts, method=config.method, config=aligner, lexicons=lexicons, pivot=config.pivot)
        return align_between_delimiters(pair, config.hard_delimiter, parts)
    pair = _in_pivot(pair) if config.pivot else pair
    if config.method in PUBLISHED:
        return fit_method(config.method, [], aligner).align(pair)
    return align_pair(pair, aligner, lexicons)


def _translated(pair: TextPair, names: tuple[str, str], config: AlignFilesConfig) -> TextPair:
    """Check the texts, before any work, and add what the translator writes."""
    from paraloom.api.alignment_checks import NamedText, check_delimiters, warn_of_languages, warn_of_lengths
    from paraloom.api.models import encoder_languages
    from paraloom.api.translators import named_model
    from paraloom.mt.streams import best_translations
    from paraloom.stages.input_checks import Direction

    sides = NamedText(names[0], pair.source), NamedText(names[1], pair.target)
    model = None if config.translator is None else named_model(config.translator, "beam:5")
    if config.hard_delimiter is not None:
        check_delimiters(*sides, config.hard_delimiter)
    warn_of_lengths(*sides)
    alone = config.encoder not in (None, ALIGNMENT_ENCODER) and not pair.source_translations and model is None
    warn_of_languages(
        *sides,
        declared=config.languages(*names),
        translator=None if model is None or config.pivot else Direction.of(model),
        encoder=encoder_languages(config.encoder) if alone and config.encoder is not None else (),
    )
    if model is None:
        return pair
    return replace(pair, source_translations=[*pair.source_translations, best_translations(model, pair.source)])


def _write(
    beads: Sequence[Bead], pair: TextPair, names: tuple[str, str], output: str, config: AlignFilesConfig
) -> None:
    if without_compression(output).suffix in _BEADS:
        _write_beads(output, beads, src_doc=_file_stem(names[0]), tgt_doc=_file_stem(names[1]))
        return
    delimiter = config.hard_delimiter
    shown = [bead for bead in beads if delimiter is None or not _is_delimiter(bead, pair.source, delimiter)]
    languages = [language or "und" for language in config.languages(*names)]
    origin = _origin_in_name(_file_stem(names[0]))
    from paraloom.alignment.bead_pairs import pairs_of_beads

    rows = pairs_of_beads(shown, (pair.source, pair.target), languages, origin, separator=":", first=1)
    _write_pairs(rows, output)


def _refuse_evidence(method: str, given: Mapping[str, object]) -> None:
    """Raise ConfigError if evidence is given to a method that uses none."""
    for name, value in given.items():
        if value is not None:
            raise ConfigError(
                f"method '{method}' does not use {name}", remedy="Leave it out, or choose another method."
            )


def _check_output(output: str, order: str) -> None:
    suffix = without_compression(output).suffix
    if suffix not in (*_BEADS, *_PAIRS) and output != PIPE and "{" not in output:
        raise ConfigError(
            f"unknown output format '{suffix}' of '{output}'",
            remedy=f"For beads choose {', '.join(_BEADS)}; for the sentences {', '.join(_PAIRS[:-1])}, or a folder.",
        )
    if suffix == ".ladder" and order == "local":
        raise ConfigError(
            "the beads of a ladder cannot cross, as those of the order 'local' do",
            remedy="Write .vecalign or .parquet.",
        )


def read_sentences(path: str | Path) -> list[str]:
    """The lines of a file that has a sentence on one of them at least."""
    text = list(read_lines(path))
    if not any(line.strip() for line in text):
        raise DataError("the file has no sentences", file=path, remedy="Write a sentence per line.")
    return text


def _counts(beads: Sequence[Bead], texts: Sequence[Sequence[str]]) -> AlignmentCounts:
    both = [bead for bead in beads if bead.source and bead.target]
    aligned = (sum(len(bead.source) for bead in both), sum(len(bead.target) for bead in both))
    return AlignmentCounts(len(both), aligned, (len(texts[0]) - aligned[0], len(texts[1]) - aligned[1]))


def _with_encoder(
    pair: TextPair, encoder: EncoderLike | str | Path, *, pivot: bool
) -> tuple[TextPair, Sequence[LexiconPair]]:
    from paraloom.alignment.nearest_words import encode_texts, encoder_lexicon

    opened, forward, backward = _opened(encoder), pair.source_translations, pair.target_translations
    compared = (forward[0] if forward else pair.source, backward[0] if pivot else pair.target)
    lexicon = encoder_lexicon(opened, *([text] for text in (compared if pivot else (pair.source, pair.target))))
    # Beside a translation, vectors of sentences add mistakes: they say less, of the same.
    if encoder != ALIGNMENT_ENCODER or not (forward or backward):
        pair = replace(pair, embeddings=encode_texts(opened, *compared))
    return pair, lexicon


def _parts(
    parts: Sequence[TextPair], *, method: str, config: AlignerConfig, lexicons: Sequence[LexiconPair], pivot: bool
) -> list[list[Bead]]:
    from paraloom.alignment.methods import fit_method

    parts = [_in_pivot(part) for part in parts] if pivot else parts
    aligner = fit_method(method, parts, config, lexicons=lexicons)
    return [aligner.align(part) for part in parts]


def _in_pivot(pair: TextPair) -> TextPair:
    from paraloom.alignment.text_pairs import TextPair

    return TextPair(pair.source_translations[0], pair.target_translations[0], embeddings=pair.embeddings)


def _is_delimiter(bead: Bead, text: Sequence[str], delimiter: str) -> bool:
    return len(bead.source) == 1 and text[bead.source[0]].strip() == delimiter


def _translation(path: str | Path, of: str, text: Sequence[str]) -> list[str]:
    lines = list(read_lines(path))
    if len(lines) != len(text):
        raise DataError(
            f"expected {len(text):,} lines, as in {of}, got {len(lines):,}",
            file=path,
            row=min(len(lines), len(text)) + 1,
            remedy="A translation has one line per sentence, in the same order.",
        )
    return lines
