"""Evaluation of files and models by name: similarity, translations, documents, aligners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from paraloom.alignment.document_pairs import read_document_pairs
from paraloom.alignment.methods import aligner_config
from paraloom.api.decontamination import near_training
from paraloom.api.model_references import model_folder
from paraloom.api.models import warn_of_encoder_language
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
from paraloom.evaluate.classification_tasks import find_classification_tasks, read_classification_task
from paraloom.evaluate.compare import EncoderComparison, compare_encoders
from paraloom.evaluate.resampling import SAMPLES
from paraloom.evaluate.sts import STSResult, evaluate_sts
from paraloom.evaluate.sts_tasks import find_tasks, read_task
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
    encoders: EncoderLike | str | Path | Sequence[str | Path],
    folder: str | Path,
    tasks: Sequence[str] | None = None,
    *,
    vectors: str | Path | None = None,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> STSResult:
    """Correlate encoders' cosines, and those of baselines, with human scores.

    Args:
        encoders: One or more: a bundled name such as english, a folder, or a sentence-transformers model.
        folder: A folder of similarity tasks, such as data/sts, or a file: score and two sentences, between tabs (or
            .jsonl, .parquet).
        tasks: Only these groups, tasks or files, such as 2012 or STS-B/dev.
        vectors: Word vectors (word2vec, GloVe, fastText): add a row for their plain average.
        resamples: Bootstrap samples of the differences; 0 for none.
    """
    if isinstance(encoders, (str, Path)):
        encoders = [encoders]
    paths = {str(name): name for name in encoders} if isinstance(encoders, Sequence) else {}
    models = {name: open_encoder(path) for name, path in paths.items()} if isinstance(encoders, Sequence) else encoders
    table = evaluate_sts(
        models,
        folder,
        tasks or None,
        untrained=open_starts(paths),
        vectors=None if vectors is None else average_vectors_of(vectors, folder, tasks or ()),
        resamples=resamples,
        seed=seed,
    )
    root, present, _ = find_tasks(folder, tasks or None)
    texts = [[*pairs.first, *pairs.second] for pairs in (read_task(root, task) for task in present)]
    for path in paths.values():
        warn_of_encoder_language(path, chain.from_iterable(texts))
    return replace(table, signature=f"{table.signature}|near-training:{_near_training(paths, texts)}")


def _near_training(encoders: Mapping[str, str | Path], tests: Iterable[list[str]]) -> str:
    """The share of the tests that is near the training text of an encoder; of several, with their names."""
    read = list(tests)
    shares = [near_training(model_folder(path), read) for path in encoders.values()]
    if len(shares) < 2:
        return shares[0] if shares else "unknown"
    short = [Path(name).name for name in encoders]
    names = short if len(set(short)) == len(short) else encoders
    return ",".join(f"{name}={share}" for name, share in zip(names, shares, strict=True))


def compare_on_similarity(
    encoders: Sequence[str | Path],
    folder: str | Path,
    tasks: Sequence[str] | None = None,
    *,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> EncoderComparison:
    """Compare encoders, what they started from and overlap on similarity tasks, with bootstrap intervals."""
    paths = {str(encoder): encoder for encoder in encoders}
    models = {name: open_encoder(path) for name, path in paths.items()}
    starts = {f"{name}, untrained": start for name, start in open_starts(paths).items()}
    return compare_encoders({**models, **starts}, folder, tasks or None, overlap=True, resamples=resamples, seed=seed)


def evaluate_classification_tasks(
    encoders: Sequence[str | Path], folder: str | Path, tasks: Sequence[str] | None = None, *, seed: int = 1
) -> ClassificationResult:
    """Classify texts by their frozen vectors (logistic regression): of encoders, of what they started from, TF-IDF.

    Args:
        encoders: One or more: a bundled name such as english, a folder, or a sentence-transformers model.
        folder: A folder with train.tsv and test.tsv (label and text, between tabs), or of such folders
            (data/classification).
        tasks: Only these tasks, such as trec.
    """
    paths = {str(encoder): encoder for encoder in encoders}
    models = {name: open_encoder(path) for name, path in paths.items()}
    result = evaluate_classification(models, folder, tasks or None, untrained=open_starts(paths), seed=seed)
    by_name = find_classification_tasks(folder, tasks or None)
    read = (read_classification_task(name, path) for name, path in by_name.items())
    texts = ((task.test or task.train).texts for task in read)
    return replace(result, signature=f"{result.signature}|near-training:{_near_training(paths, texts)}")


def evaluate_translation_files(
    hypotheses: str | Path, references: str | Path, *, tokenize: str = "13a"
) -> TranslationResult:
    """Compute BLEU and chrF, with sacreBLEU's signatures and 95 % intervals.

    Args:
        hypotheses: A translation per line.
        references: As many lines.
        tokenize: How sacreBLEU splits words for BLEU, such as 13a, zh, ja-mecab, ko-mecab or char.
    """
    translations, wanted = list(read_lines(hypotheses)), list(read_lines(references))
    if len(translations) != len(wanted):
        raise DataError(
            f"{hypotheses} and {references} have different numbers of lines: {len(translations):,}, {len(wanted):,}",
            remedy="Give two files of as many lines.",
        )
    return evaluate_translation(translations, wanted, tokenize=tokenize)


@dataclass(frozen=True)
class TranslatorResult(EvaluationResult):
    """What `evaluate_translator` returns."""

    translation: TranslationResult  # BLEU and chrF
    costs: CostDistribution  # Costs of the translations, in nats per token
    # Those of the translator's development text; None if its folder does not have them.
    development_costs: CostDistribution | None
    failed: int = 0  # Sentences that a language model did not translate; their translations count as empty
    # How much of the text is near the translator's training text; 'unknown' if `decontaminate` did not record it.
    near_training: str = "unknown"

    def to_dict(self) -> dict[str, Any]:
        """The figures of `TranslationResult`, the failed sentences, and percentiles of the costs, if they are known."""
        known = self.development_costs
        return {
            **self.translation.to_dict(),
            "failed": self.failed,
            "near_training": self.near_training,
            "cost_percentiles": self.costs.percentiles() if self.costs.sentences else None,
            "development_cost_percentiles": known.percentiles() if known is not None else None,
        }

    def format(self) -> str:
        """A line for each metric, and one for each distribution of costs."""
        costs = self.costs.format() if self.costs.sentences else "unknown, without log-probabilities of the server"
        lines = [self.translation.format(), f"costs, nats per token: {costs}"]
        if self.near_training != "unknown":
            lines.append(f"near the training text: {self.near_training}")
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
    """Compute BLEU and chrF of a translator on pairs, and what its translations cost.

    Args:
        save_costs: Keep the costs in the model's folder: other text is compared with them from then on.
    """
    model = named_model(translator, COST_DECODING, check_costs=not save_costs)
    if save_costs and not isinstance(model, Translator):
        raise ConfigError(
            f"costs are kept in the folder of a translator, which {model!r} does not have",
            remedy="Leave out --save-costs.",
        )
    sources: list[str] = []
    references: list[str] = []
    corpus = read_pairs(
        pairs, src_lang=src_lang, tgt_lang=tgt_lang, src_column=src_column, tgt_column=tgt_column, on_error=on_error
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
        near_training(getattr(model, "folder", None), [[*sources, *references]]),
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
            text = f"{result.costs.sentences} pairs of {Path(pairs).name}"
            write_costs(model.folder, result.costs, text, model.languages)
        except OSError as error:
            raise ConfigError(
                f"cannot be written to: {error.strerror}",
                file=model.folder,
                remedy="Copy the translator to a folder of your own: Translator.load(NAME).save(FOLDER).",
            ) from None
    return result


def evaluate_document_pairs(pairs: str | Path, gold: str | Path, *, swap: bool = False) -> DocumentScore:
    """Compute precision, recall and F1 of pairs of documents.

    Args:
        pairs: Pairs of documents, from `align documents`.
        gold: The true pairs: two names per line, between tabs.
        swap: The gold has the target first.

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
    """Align documents whose true beads are known, and score the result.

    Args:
        gold: Documents, as lines of JSON: source, target, gold.
        translator: Translates the sources first: a bundled name such as de-en, a folder, OWNER/NAME, or the address of
            an endpoint, each with settings as in 'NAME?from=de&to=en'.
        encoder: Evidence: an encoder of both languages, or of the target's if there is a translation; none: no encoder.
        max_bead_size: Maximum number of sentences on one side of a bead.
        method: 'evidence' (all of it), 'length' (Gale and Church's lengths alone) or 'park17' (Park et al.'s formula).

    Reference:
        Park et al. (2017), Tables 4 and 5.
    """
    config = aligner_config(method, max_bead_size, order)
    documents = read_gold_documents(gold)
    model = None if translator is None else named_model(translator, "beam:5")
    vectors = None if encoder is None or method != "evidence" else open_encoder(encoder)
    return score_aligner(
        documents, config, model, method, vectors, words_only=model is not None and encoder == ALIGNMENT_ENCODER
    )
