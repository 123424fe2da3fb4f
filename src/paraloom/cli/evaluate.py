"""Commands that evaluate: encoders, scores, translators, document pairs and aligners."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.cli import options
from paraloom.cli.output import print_result, print_usage
from paraloom.cli.translator_options import TranslatorOptions, translating, translating_here
from paraloom.core.beads import MAX_BEAD_SIZE

Method = Annotated[
    str,
    typer.Option(
        help="evidence: all evidence; length: Gale and Church's lengths alone; park17: Park et al.'s formula."
    ),
]

Encoders = Annotated[
    list[str],
    typer.Argument(
        metavar="ENCODER...",
        help="One or more: a bundled name such as english, a folder, or a sentence-transformers model.",
    ),
]


def sts(
    encoders: Encoders,
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder of similarity tasks, such as data/sts, or a file: score and two sentences, between "
            "tabs (or .jsonl, .parquet)."
        ),
    ],
    task: Annotated[
        list[str] | None, typer.Option(help="Only this group, task or file, such as 2012 or STS-B/dev. Repeatable.")
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors (word2vec, GloVe, fastText): add a row for their plain average.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Print published results of both protocols as well.")
    ] = False,
    mteb: Annotated[
        Path | None, typer.Option(help="Also write STS12.json etc. of the first encoder to this folder, as MTEB does.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples of the differences; 0 for none.")] = 1000,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Correlate similarities with human scores: of encoders, what they started from, and overlap of rare words.

    Prints the papers' protocol (Pearson, mean over the subsets of a year) and MTEB's (Spearman, all pairs of a year).

    Example: `paraloom evaluate sts english data/sts --published`
    """
    table = api.evaluate_similarity(encoders, folder, task, vectors=vectors, mteb=mteb, resamples=resamples, seed=seed)
    typer.echo(json.dumps(table.to_dict(), ensure_ascii=False) if as_json else table.format(published=published))


def classification(
    encoders: Encoders,
    data: Annotated[
        Path,
        typer.Option(
            help="A folder with train.tsv and test.tsv (label and text, between tabs), or of such folders "
            "(data/classification)."
        ),
    ],
    task: Annotated[list[str] | None, typer.Option(help="Only this one, such as trec. Repeatable.")] = None,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Classify texts by their frozen vectors (logistic regression): of encoders, of what they started from, TF-IDF.

    Example: `paraloom evaluate classification english --data data/classification --task trec`
    """
    print_result(api.evaluate_classification_tasks(encoders, data, task, seed=seed), as_json)


def compare(
    encoders: Annotated[list[str], typer.Argument(metavar="ENCODER...", help="Encoders, two or more.")],
    sts_folder: Annotated[
        Path, typer.Option("--sts", help="A folder of similarity tasks, such as data/sts, or a file of pairs.")
    ],
    task: Annotated[list[str] | None, typer.Option(help="Only this one. Repeatable.")] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples.")] = 1000,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Compare encoders, what they started from and overlap on similarity tasks, with bootstrap intervals.

    Example: `paraloom evaluate compare word trigram lstm --sts data/sts`
    """
    print_result(api.compare_on_similarity(encoders, sts_folder, task, resamples=resamples, seed=seed), as_json)


def phrases(
    encoder: options.Encoder,
    folder: Annotated[Path, typer.Argument(help="A folder of phrase tasks, such as data/phrase.")],
    similarity: Annotated[str, typer.Option(help="cosine, or dot for encoders trained by the dot product.")] = "cosine",
    as_json: options.Json = False,
) -> None:
    """Compute accuracy on SemEval 2013 task 5a and on Turney's questions with five and ten choices.

    Example: `paraloom evaluate phrases encoder data/phrase`
    """
    print_result(api.evaluate_phrase_tasks(encoder, folder, similarity=similarity), as_json)


def translation(
    hypotheses: Annotated[str, typer.Argument(metavar="HYP", help="A translation per line.")],
    references: Annotated[str, typer.Argument(metavar="REF", help="As many lines.")],
    as_json: options.Json = False,
) -> None:
    """Compute BLEU and chrF, with sacreBLEU's signatures.

    Example: `paraloom evaluate translation hypotheses.txt references.txt`
    """
    print_result(api.evaluate_translation_files(hypotheses, references), as_json)


@translating
def translator(
    translator: Annotated[
        str,
        typer.Argument(
            help="A bundled name such as de-en, a folder, a Hugging Face name, or the address of an "
            "endpoint such as http://127.0.0.1:8000/v1."
        ),
    ],
    pairs: options.Pairs,
    save_costs: Annotated[
        bool,
        typer.Option(
            "--save-costs", help="Keep the costs in the model's folder: other text is compared with them from then on."
        ),
    ] = False,
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    as_json: options.Json = False,
) -> None:
    """Compute BLEU and chrF of a translator on pairs, and what its translations cost.

    Example: `paraloom evaluate translator de-en 'test.{de,en}'`

    Example: `paraloom evaluate translator http://127.0.0.1:8000/v1 'test.{de,en}' --model qwen3 --from de --to en`
    """
    named = translation.named(translator, "-")
    result = api.evaluate_translator(
        named,
        options.pairs(pairs),
        save_costs=save_costs,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        on_error=on_error.value,
    )
    print_usage(named)
    print_result(result, as_json)


def comet(
    sources: Annotated[str, typer.Argument(metavar="SRC", help="A sentence per line.")],
    hypotheses: Annotated[str, typer.Argument(metavar="HYP", help="Its translation.")],
    references: Annotated[str, typer.Argument(metavar="REF", help="Its reference.")],
    python: Annotated[str, typer.Option(help="The python of another environment that has unbabel-comet.")],
    model: Annotated[str, typer.Option(help="A COMET model, or a .ckpt file.")] = "wmt20-comet-da",
    as_json: options.Json = False,
) -> None:
    """Compute COMET in another Python environment, whose packages may conflict with Paraloom's.

    Example: `paraloom evaluate comet src.txt hyp.txt ref.txt --python comet/bin/python`
    """
    print_result(api.evaluate_comet_files(sources, hypotheses, references, python=python, model=model), as_json)


def documents(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Pairs of documents, from `align documents`.")],
    gold: Annotated[Path, typer.Option(help="The true pairs: two names per line, between tabs.")],
    swap: Annotated[bool, typer.Option("--swap", help="The gold has the target first.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compute precision, recall and F1 of pairs of documents.

    Example: `paraloom evaluate documents pairs.tsv --gold gold.tsv`
    """
    print_result(api.evaluate_document_pairs(pairs, gold, swap=swap), as_json)


def alignment(
    files: Annotated[list[str], typer.Argument(metavar="BEADS", help="Beads: .vecalign, .ladder or .parquet.")],
    gold: Annotated[list[str], typer.Option(help="The true beads, a file for each of BEADS, in order. Repeatable.")],
    source: Annotated[
        list[str] | None,
        typer.Option(help="The source text of BEADS, a sentence per line, to check indices by its length. Repeatable."),
    ] = None,
    target: Annotated[list[str] | None, typer.Option(help="The target text of BEADS, as --source. Repeatable.")] = None,
    hard_delimiter: Annotated[
        str | None,
        typer.Option(
            help="BEADS are of texts of several documents, separated by such lines as .EOA ('' for empty lines): "
            "compare each document with a gold file of its own."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Compute precision, recall and F1 of beads: strict and lax as vecalign counts, of each file, pooled, and by kind.

    Published gold is read as it is: a sentence may be in two beads, or beads may have gaps, such as [1, 3]:[2].

    Example: `paraloom evaluate alignment ours.vecalign --gold hand.ladder`

    Example: `paraloom evaluate alignment a.vecalign b.vecalign --gold a.gold --gold b.gold --json`

    Example: `paraloom evaluate alignment all.vecalign --hard-delimiter .EOA --source all.de --target all.fr
    --gold a.gold --gold b.gold`
    """
    report = api.evaluate_alignment_files(
        files, gold, source=source or (), target=target or (), hard_delimiter=hard_delimiter
    )
    print_result(report, as_json)


@translating
def aligner(
    gold: Annotated[Path, typer.Argument(metavar="GOLD.jsonl", help="Documents: source, target, gold.")],
    translator: Annotated[
        str | None,
        typer.Option(help="Source to target: a bundled name, a folder, or the address of an endpoint."),
    ] = None,
    encoder: options.AlignmentEncoder = ALIGNMENT_ENCODER,
    max_bead_size: Annotated[
        int, typer.Option(help="Maximum number of sentences on one side of a bead.")
    ] = MAX_BEAD_SIZE,
    method: Method = "evidence",
    order: options.Order = "strict",
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    as_json: options.Json = False,
) -> None:
    """Align documents whose true beads are known, and score the result.

    Example: `paraloom evaluate aligner cs-en.jsonl.gz --translator cs-en`
    """
    named = translation.named(translator, "-")
    score = api.evaluate_sentence_aligner(
        gold,
        translator=named,
        encoder=options.given_encoder(encoder),
        max_bead_size=max_bead_size,
        method=method,
        order=order,
    )
    print_usage(named)
    print_result(score, as_json)


def scores(
    pairs: Annotated[
        list[str],
        typer.Argument(help="Labeled pairs, scored: column label, 1 right, 0 wrong; labeled_set and kind if known."),
    ],
    score: Annotated[list[str] | None, typer.Option(help="Only this score. Repeatable.")] = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Measure how well scores tell right pairs from wrong ones: area under the ROC curve, with 95 % intervals.

    Example: `paraloom evaluate scores labeled.parquet`
    """
    print_result(api.evaluate_scores(pairs, scores=score or (), on_error=on_error.value), as_json)


@translating_here
def lookalikes(
    pairs: Annotated[
        list[str],
        typer.Argument(metavar="PAIRS", help="True paraphrases, in English: as for `score`, or a file of each side."),
    ],
    scores: Annotated[
        str, typer.Option("--with", help="Scores or groups to test, separated by commas.")
    ] = "overlap,bleu1,chrf,mismatch,meaning",
    encoder: Annotated[str | None, typer.Option(help="Test paraphrase_score by this encoder, too.")] = None,
    reverse_translator: Annotated[
        str | None,
        typer.Option(help="Test the scores of translating back with this translator, too: a name, a folder, A+B."),
    ] = None,
    paraphrase_model: Annotated[str | None, typer.Option(help="Test p_paraphrase by this model, too.")] = None,
    kinds: Annotated[
        str, typer.Option(help="What is changed, separated by commas; default: all kinds.")
    ] = "number,name,negation,quantifier,role,words",
    changed: Annotated[
        str, typer.Option(help="tgt: change the second side; src: compare with the changed first side.")
    ] = "tgt",
    sample: Annotated[int, typer.Option(help="Maximum number of pairs.")] = 2_000,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the pairs and their look-alikes, labeled.")
    ] = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    as_json: options.Json = False,
) -> None:
    """Make look-alikes that differ from true paraphrases in one fact; count how often a score prefers them.

    --from and --to are those of --reverse-translator.

    Example: `paraloom evaluate lookalikes paraphrases.tsv --encoder english -o labeled.parquet`
    """
    result = api.evaluate_lookalikes(
        options.pairs(pairs),
        scores=options.names(scores),
        kinds=options.names(kinds),
        changed=changed,
        sample=sample,
        output=output,
        seed=seed,
        on_error=on_error.value,
        encoder=encoder,
        reverse_translator=translation.scoring(reverse_translator),
        paraphrase_model=paraphrase_model,
    )
    print_result(result, as_json)


EVALUATE: options.Commands = {
    "scores": scores,
    "lookalikes": lookalikes,
    "sts": sts,
    "classification": classification,
    "compare": compare,
    "phrases": phrases,
    "translation": translation,
    "translator": translator,
    "comet": comet,
    "documents": documents,
    "alignment": alignment,
    "aligner": aligner,
}
