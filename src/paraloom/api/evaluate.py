"""Evaluation of files and models by name: similarity, phrases, translations, documents, aligners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from paraloom.alignment.document_pairs import read_document_pairs
from paraloom.alignment.methods import aligner_config
from paraloom.api.pair_inputs import read_pairs
from paraloom.api.translators import AnyTranslator, named_model
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike, TranslatorLike
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.alignment import AlignmentScore, DocumentScore, score_documents
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.classification import ClassificationResult, evaluate_classification
from paraloom.evaluate.comet import COMETResult, evaluate_comet
from paraloom.evaluate.compare import EncoderComparison, compare_encoders
from paraloom.evaluate.mteb import write_mteb
from paraloom.evaluate.phrases import PhraseResult, evaluate_phrases
from paraloom.evaluate.resampling import SAMPLES
from paraloom.evaluate.sts import STSResult, evaluate_sts
from paraloom.evaluate.translation import TranslationResult, evaluate_translation
from paraloom.io import read_lines
from paraloom.io.formats.alignments import read_gold_documents
from paraloom.mt.costs import COST_DECODING, MIN_SENTENCES, CostDistribution, write_costs
from paraloom.mt.streams import best_variants
from paraloom.mt.translator import Translator
from paraloom.pipeline.shard import OnError
from paraloom.stages.documents import score_aligner
from paraloom.stages.encoders import average_vectors_of, open_starts
from paraloom.text.normalize import normalize


def evaluate_similarity(
    encoder: EncoderLike | str | Path | Sequence[str | Path],
    folder: str | Path,
    tasks: Sequence[str] | None = None,
    *,
    vectors: str | Path | None = None,
    mteb: str | Path | None = None,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> STSResult:
    """Correlation of encoders' cosines, and of baselines, with human scores; see `paraloom.evaluate_sts`."""
    if isinstance(encoder, (str, Path)):
        encoder = [encoder]
    paths = {str(name): name for name in encoder} if isinstance(encoder, Sequence) else {}
    encoders = {name: _open(path) for name, path in paths.items()} if isinstance(encoder, Sequence) else encoder
    table = evaluate_sts(
        encoders,
        folder,
        tasks or None,
        untrained=open_starts(paths),
        vectors=None if vectors is None else average_vectors_of(vectors, folder, tasks or ()),
        resamples=resamples,
        seed=seed,
    )
    if mteb is not None:
        write_mteb(table, mteb)
    return table


def compare_on_similarity(
    encoders: Sequence[str | Path],
    folder: str | Path,
    tasks: Sequence[str] | None = None,
    *,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> EncoderComparison:
    """Encoders, what they started from and overlap side by side on the same tasks, with bootstrap intervals."""
    paths = {str(encoder): encoder for encoder in encoders}
    models = {name: _open(path) for name, path in paths.items()}
    starts = {f"{name}, untrained": start for name, start in open_starts(paths).items()}
    return compare_encoders({**models, **starts}, folder, tasks or None, overlap=True, resamples=resamples, seed=seed)


def evaluate_classification_tasks(
    encoders: Sequence[str | Path],
    folder: str | Path,
    tasks: Sequence[str] | None = None,
    *,
    seed: int = 1,
) -> ClassificationResult:
    """Accuracy of logistic regression on frozen vectors; see `paraloom.evaluate_classification`."""
    paths = {str(encoder): encoder for encoder in encoders}
    models = {name: _open(path) for name, path in paths.items()}
    return evaluate_classification(models, folder, tasks or None, untrained=open_starts(paths), seed=seed)


def evaluate_phrase_tasks(
    encoder: EncoderLike | str | Path, folder: str | Path, *, similarity: str = "cosine"
) -> PhraseResult:
    """Accuracy on SemEval 2013 task 5a and on Turney's questions."""
    if similarity not in ("cosine", "dot"):
        raise ConfigError(f"'similarity' must be 'cosine' or 'dot', not '{similarity}'")
    kind: Literal["cosine", "dot"] = "dot" if similarity == "dot" else "cosine"
    return evaluate_phrases(_open(encoder), folder, similarity=kind)


def evaluate_translation_files(hypotheses: str, references: str) -> TranslationResult:
    """BLEU and chrF of a file of translations, with sacreBLEU's signatures and 95 % intervals."""
    return evaluate_translation(list(read_lines(hypotheses)), list(read_lines(references)))


@dataclass(frozen=True)
class TranslatorResult(EvaluationResult):
    """What `evaluate_translator` returns.

    Args:
        translation: BLEU and chrF.
        costs: Costs of the translations, in nats per token.
        development_costs: Those of the translator's development text; None if its folder does not have them.
        failed: Sentences that a language model did not translate; their translations count as empty.
    """

    translation: TranslationResult
    costs: CostDistribution
    development_costs: CostDistribution | None
    failed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The figures of `TranslationResult`, the failed sentences, and percentiles of the costs, if they are known."""
        known = self.development_costs
        return {
            **self.translation.to_dict(),
            "failed": self.failed,
            "cost_percentiles": self.costs.percentiles() if self.costs.sentences else None,
            "development_cost_percentiles": known.percentiles() if known is not None else None,
        }

    def format(self) -> str:
        """A line for each metric, and one for each distribution of costs."""
        costs = self.costs.format() if self.costs.sentences else "unknown, without log-probabilities of the server"
        lines = [self.translation.format(), f"costs, nats per token: {costs}"]
        if self.failed:
            lines.insert(
                1, f"{self.failed:,} of {self.translation.n:,} sentences have no translation, and count as empty"
            )
        if self.development_costs is not None:
            lines.append(f"of its development text: {self.development_costs.format()}")
        return "\n".join(lines)


def evaluate_translator(
    translator: AnyTranslator | TranslatorLike,
    pairs: str | Path,
    *,
    save_costs: bool = False,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    on_error: OnError = "stop",
) -> TranslatorResult:
    """BLEU, chrF and costs of a translator on pairs."""
    model = named_model(translator, COST_DECODING, check_costs=not save_costs)
    if save_costs and not isinstance(model, Translator):
        raise ConfigError(
            f"costs are kept in the folder of a translator, which {model!r} does not have",
            remedy="Leave out --save-costs.",
        )
    sources: list[str] = []
    references: list[str] = []
    corpus = read_pairs(
        pairs,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=src_column,
        tgt_column=tgt_column,
        bad_rows=on_error,
    )
    for batch in corpus.batches():
        sources += normalize(batch.column("src")).to_pylist()
        references += normalize(batch.column("tgt")).to_pylist()
    best = best_variants(model, sources)
    result = TranslatorResult(
        evaluate_translation([variant.text for variant in best], references),
        CostDistribution.of(best),
        getattr(model, "costs", None),
        sum(bool(variant.reason) for variant in best),
    )
    if save_costs:
        assert isinstance(model, Translator)
        if result.costs.sentences < MIN_SENTENCES:
            raise DataError(
                f"{result.costs.sentences} sentences are too few to know what translations cost",
                file=pairs,
                remedy=f"Give {MIN_SENTENCES} or more; 1,000 are better.",
            )
        try:
            write_costs(model.folder, result.costs, f"{result.costs.sentences} pairs of {Path(pairs).name}")
        except OSError as error:
            raise ConfigError(
                f"cannot be written to: {error.strerror}",
                file=model.folder,
                remedy="Copy the translator to a folder of your own: Translator.load(NAME).save(FOLDER).",
            ) from None
    return result


def evaluate_comet_files(
    sources: str, hypotheses: str, references: str, *, python: str, model: str = "wmt20-comet-da"
) -> COMETResult:
    """COMET of files, computed by another Python environment that has unbabel-comet."""
    lines = [list(read_lines(path)) for path in (sources, hypotheses, references)]
    return evaluate_comet(*lines, python=python, model=model)


def evaluate_document_pairs(pairs: str | Path, gold: str | Path, *, swap: bool = False) -> DocumentScore:
    """Precision, recall and F1 of pairs of documents.

    Reference:
        Park et al. (2017), Table 2.
    """
    listed = read_document_pairs(gold)
    true = [(pair.target, pair.source) if swap else (pair.source, pair.target) for pair in listed]
    return score_documents(true, [(pair.source, pair.target) for pair in read_document_pairs(pairs)])


def evaluate_sentence_aligner(
    gold: str | Path,
    *,
    translator: AnyTranslator | TranslatorLike | None = None,
    encoder: EncoderLike | str | Path | None = ALIGNMENT_ENCODER,
    max_bead_size: int = MAX_BEAD_SIZE,
    method: str = "evidence",
    order: str = "strict",
) -> AlignmentScore:
    """Align documents whose beads are known, and score the result.

    Reference:
        Park et al. (2017), Tables 4 and 5.
    """
    config = aligner_config(method, max_bead_size, order)
    documents = read_gold_documents(gold)
    model = None if translator is None else named_model(translator, "beam:5")
    vectors = None if encoder is None or method != "evidence" else _open(encoder)
    return score_aligner(
        documents, config, model, method, vectors, words_only=model is not None and encoder == ALIGNMENT_ENCODER
    )


def _open(encoder: EncoderLike | str | Path) -> EncoderLike:
    return open_encoder(encoder) if isinstance(encoder, (str, Path)) else encoder
