"""Stages that score pairs, and that train the models which some scores need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.lazy import load_object
from paraloom.core.protocols import CorpusReader, ScoringTranslatorLike
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.pairs.scoring import models as made
from paraloom.pairs.scoring.scorer import Scorer
from paraloom.pairs.scoring.table import COLUMNS, GROUPS, JUDGED, MODEL_OPTIONS, find_scorers, score

CLASSIFIER = "paraloom.papers.w17.classifier:Classifier"
"""The classifier of references and translations."""

AGREEMENT_SAMPLES = 16
"""Samples of a translator that `agreement` compares with, unless another number is given."""

_RULE_SCORES = ("quantity_mismatch", "negation_mismatch")
_SMOOTHINGS = ("kneser-ney", "witten-bell")


@dataclass(frozen=True, kw_only=True)
class Score(Map):
    """Adds the columns of scores to pairs; no row is dropped.

    Args:
        scores: Names and groups of scores that need no model; `paraloom scores` lists them. Scores that a given model
            adds may be named, too. With `bilingual` among them, the encoder adds `bilingual_similarity` instead of
            `paraphrase_score`.
        encoder: An encoder; adds `paraphrase_score`.
        word_counts: What :class:`CountWords` wrote; adds `src_idf` and `tgt_idf`.
        language_model: What :class:`TrainLanguageModel` wrote, or an ARPA file; adds `src_perplexity` and
            `tgt_perplexity`, or `src_character_perplexity` and `tgt_character_perplexity` for a model of characters.
        classifier: What a stage `train-classifier` wrote; adds `reference_probability`.
        sentence_transformer: Folder or name of a sentence-transformers model; adds `paraphrase_score` as that model
            computes it.
        translator: A translator from the language of the pivot into that of the pairs; adds `forward_cost` and
            `reference_cost`.
        reverse_translator: A translator from the language of the pairs into that of the pivot; adds `reverse_cost`,
            `reverse_cost_gap` and `round_trip_chrf`; with both translators `dual_cross_entropy`, too. Pairs without a
            column `pivot` get one by translating `src`.
        agreement_samples: Samples of `translator` per pivot, 2 or more; adds `agreement`, the mean chrF of `tgt`
            against them. They take as long as this many translations. Default 0: 16 if `agreement` is among the scores,
            else none.
        paraphrase_model: What :class:`TrainParaphraseModel` wrote; adds `p_paraphrase`, computed from the other scores
            of the pairs. Scores that need no model are computed for it where they are missing.
        judge: What :class:`TrainJudge` wrote, or the folder of any cross-encoder in ONNX format, with config.json and
            tokenizer.json; adds `judge`, `judge_forward` and `judge_backward`. Or a stage :class:`LoadEndpoint` with
            the prompt 'judge', a language model; adds `judge`. Without it, `judge` among `scores` adds the columns by
            the bundled judge of English.
        judge_file: The ONNX file of a cross-encoder. Default '': model.onnx, onnx/model.onnx, or the only one.
        judge_label: The label of a cross-encoder whose probability is the score. Default '': entailment; of two labels
            without it, paraphrase, duplicate or equivalent.
        comet: Folder of a COMET model; adds `comet`. One that compares references reads the column `pivot` as the
            source and `src` as the reference; others read `src` as the source.
        metricx: Folder of a MetricX-24 model; adds `metricx`, of `src` as the source.
        languages: All languages that may occur, two or more; adds `src_language_probability` and
            `tgt_language_probability`, the probability of the language that each side is labeled with.

    Before any work, a warning says if a sample of the pairs is in other languages than the translators, the paraphrase
    model or the bundled judge, or if the word counts lack most of its words.

    Raises:
        ConfigError: A score is unknown, `languages` has one entry, both `encoder` and `sentence_transformer` are given,
            `agreement_samples` is 1 or given without `translator`, or `judge_file` or `judge_label` is given without
            `judge`.

    Example:
        >>> batch = pa.RecordBatch.from_pylist([{"src": "A dog sleeps.", "tgt": "A dog is asleep."}])
        >>> Score(scores=["tgt_tokens"]).apply(batch, StageContext(seed=1)).column("tgt_tokens").to_pylist()
        [5]
    """

    input_columns: ClassVar[tuple[str, ...]] = ("src", "tgt")
    optional_fields: ClassVar[tuple[str, ...]] = (
        *("agreement_samples", "paraphrase_model", "judge", "judge_file", "judge_label"),
    )

    scores: tuple[str, ...] = ("common",)
    encoder: Ref | None = None
    word_counts: Ref | None = None
    language_model: Ref | None = None
    classifier: Ref | None = None
    translator: Ref | None = None
    reverse_translator: Ref | None = None
    agreement_samples: int = 0
    paraphrase_model: Ref | None = None
    judge: Ref | None = None
    judge_file: str = ""
    judge_label: str = ""
    comet: Ref | None = None
    metricx: Ref | None = None
    sentence_transformer: str = ""
    languages: tuple[str, ...] = ()

    @property
    def loads_models(self) -> bool:
        """True for models that no input names, too."""
        return super().loads_models or bool(self.sentence_transformer or self.languages)

    def validate(self) -> None:
        names, bilingual = self._surface_names()
        find_scorers(names)
        if bilingual and not (self.encoder or self.sentence_transformer):
            raise ConfigError(
                "score 'bilingual_similarity' needs an encoder of both languages",
                remedy="Set 'encoder', too: --encoder multilingual (cs, de, en, fr, is, ko, tr), or one of "
                "`paraloom train encoder --bitext`.",
            )
        if self.encoder and self.sentence_transformer:
            raise ConfigError(
                "keys 'encoder' and 'sentence_transformer' both add paraphrase_score", remedy="Give one of them."
            )
        if self.languages:
            from paraloom.text.languages import check_candidates

            check_candidates(self.languages)
        if self.agreement_samples:
            if self.translator is None:
                raise ConfigError("key 'agreement_samples' needs a translator", remedy="Set 'translator', too.")
            if self.agreement_samples < 2:
                raise ConfigError(f"key 'agreement_samples' must be 2 or more, or 0, not {self.agreement_samples}")
        for key in ("judge_file", "judge_label"):
            if getattr(self, key) and self.judge is None:
                raise ConfigError(f"key '{key}' needs a cross-encoder", remedy="Set 'judge', too.")

    def _surface_names(self) -> tuple[tuple[str, ...], bool]:
        """The named scores that no model adds, and whether the encoder is to add `bilingual_similarity`."""
        names, bilingual = made.without_bilingual(self.scores)
        added = {name for name in MODEL_OPTIONS if not (bilingual and name == made.PARAPHRASE_SCORE.name)}
        if self.judge is None:  # the bundled one computes them
            added -= JUDGED
        given = self._given()
        return tuple(name for name in names if not (name in added and MODEL_OPTIONS[name] <= given)), bilingual

    def _given(self) -> set[str]:
        given = {key for key in {*self.inputs, "languages"} if getattr(self, key)}
        return given | {"encoder"} if self.sentence_transformer else given

    def known_columns(self) -> list[str]:
        """Names of the columns that it will add, as far as they are known before models are loaded."""
        names, bilingual = self._surface_names()
        members = [member for name in names for member in GROUPS.get(name, (name,))]
        members += ["judge"] if self.judge else sorted(JUDGED) if "judge" in names else []
        # A language model, of words or of characters, says what it adds when it is loaded.
        given = self._given() - {"language_model"}
        unknown = {made.PARAPHRASE_SCORE.name if bilingual else made.BILINGUAL_SIMILARITY.name, *JUDGED}
        unknown |= set() if self.agreement_samples else {made.AGREEMENT.name}
        members += [name for name, keys in MODEL_OPTIONS.items() if keys <= given and name in COLUMNS.keys() - unknown]
        return list(dict.fromkeys(members))

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        paths = context.inputs
        if "comet" in paths:
            _check_comet(paths["comet"], corpus.schema.names)
        if rules := [name for name in self.known_columns() if name in _RULE_SCORES]:
            from paraloom.stages.input_checks import check_rules

            check_rules(corpus, rules, context.seed)
        if "word_counts" in paths:
            from paraloom.pairs.scoring.idf import DocumentFrequencies
            from paraloom.stages.input_checks import check_word_counts

            check_word_counts(corpus, DocumentFrequencies.load(paths["word_counts"]), context.seed)
        judged = self.judge is None and bool(JUDGED & {*self.scores})
        if not judged and not {"translator", "reverse_translator", "paraphrase_model", "encoder"} & paths.keys():
            return {}
        from paraloom.mt.model_card import card_languages
        from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
        from paraloom.stages.input_checks import PARAPHRASE_MODEL, check_scored_languages

        translator, reverse = (
            scoring_translator(paths[name]) if name in paths else None for name in ("translator", "reverse_translator")
        )
        card = ParaphraseModel.load(paths["paraphrase_model"]).card if "paraphrase_model" in paths else {}
        languages = {PARAPHRASE_MODEL: card.get("languages", ()), "bundled judge": ("en",) if judged else ()}
        if "encoder" in paths and not any(languages.values()):
            languages = {"encoder": card_languages(paths["encoder"])}
        return check_scored_languages(
            corpus, translator=translator, reverse_translator=reverse, languages=languages, seed=context.seed
        )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        models = tuple(sorted(context.inputs.items()))
        options = (self.judge_file, self.judge_label)
        names, bilingual = self._surface_names()
        samples = self.agreement_samples or (AGREEMENT_SAMPLES if made.AGREEMENT.name in self.scores else 0)
        given = (self.sentence_transformer, bilingual, self.languages, samples)
        return score(batch, [*names, *_model_scorers(models, *given, *options)])

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        if "judge" not in context.inputs:
            return {}
        from paraloom.stages.endpoints import endpoint_usage

        return endpoint_usage([context.inputs["judge"]])


def _check_comet(folder: Path, columns: Sequence[str]) -> None:
    """Refuse a COMET model that compares references, for pairs that do not have them."""
    from paraloom.text.learned_metrics import compares_references

    if compares_references(folder) and "pivot" not in columns:
        raise ConfigError(
            "this COMET model compares a translation with its source and a reference, and the pairs have no column "
            "'pivot', the source",
            file=folder,
            remedy="Take one without references, such as wmt20-comet-qe-da, or score back-translations.",
        )


def scoring_translator(folder: Path) -> ScoringTranslatorLike:
    """The translator of a folder, if it can tell how likely a given translation is."""
    from paraloom.mt.loading import open_translator

    translator = open_translator(folder, "greedy")
    if not isinstance(translator, ScoringTranslatorLike):
        raise ConfigError(
            "an endpoint cannot score given translations",
            file=folder,
            remedy="Score with a translator on this machine.",
        )
    return translator


@dataclass(frozen=True, kw_only=True)
class CountWords(Fit):
    """Counts in how many sentences each word occurs, for the score IDF; or estimates it from a list of words.

    Words are parts of tokens that have a letter, so that punctuation does not count.

    Args:
        corpora: Corpora of sentences or pairs.
        columns: Text columns to count in.
        frequencies: File of `word count` lines, such as those of Wikipedia, instead of `corpora`.

    Raises:
        ConfigError: Both or neither of `corpora` and `frequencies` are given.
        DataError: When it runs: a line of the list is malformed.

    Example:
        >>> CountWords(corpora=["references"], columns=["src"]).columns
        ('src',)
    """

    version: ClassVar[str] = "2"
    sentinel: ClassVar[str] = "rarity.safetensors"
    optional_fields: ClassVar[tuple[str, ...]] = ("frequencies",)

    corpora: tuple[Ref, ...] = ()
    columns: tuple[str, ...] = ("src",)
    frequencies: Path | None = None

    def validate(self) -> None:
        super().validate()
        if bool(self.corpora) == (self.frequencies is not None):
            raise ConfigError(
                "expected one of the keys 'corpora' and 'frequencies'", remedy="Give exactly one of them."
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        from paraloom.embed.word_vectors import read_words
        from paraloom.pairs.scoring.idf import count_document_frequencies, listed_frequencies

        if self.frequencies is None:
            frequencies = count_document_frequencies(_texts(context, self.columns))
        else:
            try:
                frequencies = listed_frequencies(*read_words(self.frequencies))
            except DataError as error:
                raise error.at(file=self.frequencies) from None
        frequencies.save(folder)
        return {"words": len(frequencies.words), "sentences": frequencies.sentences}


@dataclass(frozen=True, kw_only=True)
class TrainLanguageModel(Fit):
    """Trains an n-gram language model of words or characters, for the score perplexity.

    Args:
        corpora: Corpora of sentences or pairs.
        columns: Text columns to train on.
        order: Length of the longest n-grams. Default 0: 3 words or 6 characters.
        units: 'words' or 'characters'.
        smoothing: 'kneser-ney' (words only, by VariKN of the extra `language`), 'witten-bell' (no extra needed), or ''
            for Kneser–Ney of words where VariKN is installed, else Witten–Bell.

    Raises:
        ConfigError: `units` or `smoothing` is unknown, Kneser–Ney smoothing of characters is asked for, or, when it
            runs, VariKN is not installed.

    Reference:
        Wieting, Mallinson and Gimpel 2017, §5.4: 3-grams, trained on 40,000 references that no experiment uses.

    Example:
        >>> TrainLanguageModel(corpora=["references"], units="characters").smoothing
        ''
    """

    sentinel: ClassVar[str] = "language_model.safetensors"

    corpora: tuple[Ref, ...]
    columns: tuple[str, ...] = ("src",)
    order: int = 0
    units: Literal["words", "characters"] = "words"
    smoothing: str = ""

    def validate(self) -> None:
        if self.smoothing not in ("", *_SMOOTHINGS):
            raise ConfigError(f"key 'smoothing' must be one of {', '.join(_SMOOTHINGS)}, not '{self.smoothing}'")
        if self.smoothing == "kneser-ney" and self.units == "characters":
            raise ConfigError(
                "smoothing 'kneser-ney' is for words, and 'units' is 'characters'", remedy="Write 'witten-bell'."
            )
        if self.order < 0:
            raise ConfigError(f"key 'order' must be 1 or more, or 0 for the default, not {self.order}")

    def configuration(self) -> dict[str, Json]:
        """The fields as JSON values; models of Witten–Bell's smoothing had another form at first."""
        return super().configuration() | ({"form": 2} if self._smoothing() == "witten-bell" else {})

    def _smoothing(self) -> str:
        from paraloom.pairs.scoring.language_model import has_varikn

        return self.smoothing or ("kneser-ney" if self.units == "words" and has_varikn() else "witten-bell")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        from paraloom.pairs.scoring.language_model import train_language_model
        from paraloom.pairs.scoring.witten_bell import ORDERS, train_witten_bell

        texts, order = _texts(context, self.columns), self.order or ORDERS[self.units]
        if self._smoothing() == "kneser-ney":
            model = train_language_model(texts, folder, order=order)
            return {"order": model.order, "ngrams": len(model.keys), "smoothing": "kneser-ney"}
        own = train_witten_bell(texts, units=self.units, order=order)
        own.save(folder)
        return {"order": own.order, "ngrams": len(own.keys), "smoothing": "witten-bell"}


@cached_per_stage(2)
def _model_scorers(
    models: tuple[tuple[str, Path], ...],
    sentence_transformer: str,
    bilingual: bool,
    languages: tuple[str, ...],
    agreement_samples: int,
    judge_file: str,
    judge_label: str,
) -> tuple[Scorer, ...]:
    """The scorers of all models that are given, loaded once per worker."""
    scorers: list[Scorer] = []
    paths = dict(models)
    if encoder := paths.get("encoder") or sentence_transformer:
        from paraloom.embed.encoder import open_encoder

        scorers += made.encoder_scorers(open_encoder(encoder), bilingual=bilingual)
    if "word_counts" in paths:
        from paraloom.pairs.scoring.idf import DocumentFrequencies

        scorers += made.idf_scorers(DocumentFrequencies.load(paths["word_counts"]))
    if "language_model" in paths:
        from paraloom.pairs.scoring.language_model import load_language_model

        scorers += made.perplexity_scorers(load_language_model(paths["language_model"]))
    if "classifier" in paths:
        scorers += made.classifier_scorers(load_object(CLASSIFIER).load(paths["classifier"]))
    if "translator" in paths or "reverse_translator" in paths:
        scorers += _translation_scorers(paths, agreement_samples)
    if "judge" in paths:
        scorers += made.judge_scorers(_open_judge(paths["judge"], judge_file, judge_label))
    for name in made.METRICS:
        if name in paths:
            from paraloom.text.learned_metrics import load_metric

            scorers += made.metric_scorers(name, load_metric(name, paths[name]))
    if languages:
        from paraloom.text.languages import LanguageIdentifier

        scorers += made.language_scorers(LanguageIdentifier(languages))
    if "paraphrase_model" in paths:  # last: it reads the others
        from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel, paraphrase_scorers

        scorers += paraphrase_scorers(ParaphraseModel.load(paths["paraphrase_model"]))
    return tuple(scorers)


def _open_judge(folder: Path, file: str, label: str) -> made.MeaningJudge:
    from paraloom.mt.endpoint import ENDPOINT_FILE
    from paraloom.mt.endpoint_judge import EndpointJudge
    from paraloom.pairs.scoring.judge import load_judge

    if (folder / ENDPOINT_FILE).is_file():
        return EndpointJudge.load(folder)
    return load_judge(folder, file=file, label=label)


def _translation_scorers(paths: Mapping[str, Path], agreement_samples: int) -> tuple[Scorer, ...]:
    from paraloom.mt.decoding import Mbr
    from paraloom.mt.loading import open_translator
    from paraloom.pairs.scoring.translation import translation_scorers

    forward, reverse = (
        scoring_translator(paths[name]) if name in paths else None for name in ("translator", "reverse_translator")
    )
    sampler = None
    if forward is not None and agreement_samples:
        sampler = open_translator(paths["translator"], Mbr(samples=agreement_samples).proposal)
    return translation_scorers(forward, reverse, sampler=sampler)


def _texts(context: StageContext, columns: tuple[str, ...]) -> Iterator[pa.Array]:
    for path in context.paths("corpora"):
        for batch in Corpus.open(path).batches(list(columns), label="reading"):
            yield from batch.columns
