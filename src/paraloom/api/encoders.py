"""Encoders for users: trained on pairs, distilled from large ones, exported, and run over files."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa

from paraloom.api.model_references import absolute_path, model_folder, model_path
from paraloom.api.models import warn_of_encoder_language
from paraloom.api.rejected import RejectedLines
from paraloom.api.run import input_stages, input_stages_of, run_stages
from paraloom.api.yields import FEW_PAIRS, few_pairs_warning
from paraloom.bundled import bundled_path
from paraloom.core.batches import as_list, batched
from paraloom.core.devices import default_device, training_devices
from paraloom.core.errors import ConfigError, ModelError, ParaloomError, imports_of_extra
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.stage import Ref, Stage
from paraloom.embed.average import SentenceEncoder, quantize
from paraloom.embed.distillation import DistillationConfig
from paraloom.embed.encoder import Encoder, check_name, open_encoder
from paraloom.embed.export import RESTORED, derived_card, export_sentence_transformer, exported_card
from paraloom.embed.onnx_export import FILE, export_onnx
from paraloom.embed.product_quantization import product_quantize
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import CARD, CONFIG, load_encoder, save_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.transformer import CONFIG as TRANSFORMER_CONFIG
from paraloom.embed.transformer import convert_transformer, is_trained_transformer, is_transformer
from paraloom.io import read_pairs
from paraloom.io.atomic import atomic_folder, atomic_write, check_local
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.shards import shard_writer
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.distillation import DistillEncoder, DistillTransformer, DistillWords
from paraloom.stages.encoders import TrainBilingualEncoder, TrainEncoder
from paraloom.stages.sentences import Encode, LoadEncoder, ReadSentences

CHUNK = 10_000
"""Lines that are encoded at a time."""


def train_encoder(
    pairs: str | Path | Sequence[str | Path] = (),
    output: str | Path = "encoder",
    *,
    bitext: str | Path | Sequence[str | Path] = (),
    init_from: str | Path | None = None,
    vectors: str | Path | None = None,
    sts: str | Path | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    **config: Any,
) -> RunResult:
    """Train a sentence encoder on paraphrases, or on bitext; if stopped, the same call resumes.

    Args:
        pairs: Pairs in one language that mean the same: one file or several, as `read_pairs` takes them.
        output: Folder of the encoder.
        bitext: Instead of `pairs`: sentences and their translations, for an encoder of two or more languages; with
            defaults for that, see `paraloom.stages.TrainBilingualEncoder`.
        init_from: An encoder to start from.
        vectors: Word vectors to start from: text of word2vec, GloVe or fastText, or what a stage `distill-words`
            wrote.
        sts: Folder of similarity tasks, for a development figure per epoch.
        src_column: Source column of a table: a name, or a number from 1.
        tgt_column: Target column of a table.
        on_error: 'stop' at a row that cannot be read, or 'reject' it.
        seed: Seed of every random choice.
        **config: Further fields of `paraloom.stages.TrainEncoder`: `spec`, `dimension`, `epochs` …

    Returns:
        The result; its last stage has the figures of the training.

    Raises:
        ConfigError: Both or neither of `pairs` and `bitext` are given.

    Reference:
        Wieting and Gimpel (2018), §4 and §5.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "pairs.tsv").write_text("a dog runs\\ta dog is running\\na cat sleeps\\ta cat is asleep\\n")
        >>> result = train_encoder(folder / "pairs.tsv", folder / "encoder", dimension=8, epochs=1)
        >>> result.stages[-1].figures["pairs"]["used"], result.folder.name
        (2, 'encoder')
    """
    if bool(as_list(pairs)) == bool(as_list(bitext)):
        raise ConfigError(
            "expected either pairs or bitext", remedy="Give paraphrases as 'pairs', or translations as 'bitext'."
        )
    stages, references = input_stages_of(
        as_list(pairs) or bitext, "pairs", on_error=on_error, src_column=src_column, tgt_column=tgt_column
    )
    if init_from is None and vectors is None and as_list(pairs):
        _warn_of_few(as_list(pairs), src_column, tgt_column)
    training = (TrainBilingualEncoder if as_list(bitext) else TrainEncoder)(
        pairs=references,
        init_from=model_folder(init_from),
        vectors=absolute_path(vectors),
        sts=absolute_path(sts),
        **config,
    )
    with suppress(ModuleNotFoundError):  # said by the stage
        training_devices(training.devices)
    return run_stages([*stages, training], str(output), seed=seed)


def _warn_of_few(sources: Sequence[str | Path], src_column: str | int | None, tgt_column: str | int | None) -> None:
    """Say what to expect where there are few pairs to train on; reads no more than it needs to know."""
    count = 0
    with suppress(ParaloomError):  # said by the stage that reads them
        for source in sources:
            batches = read_pairs(source, src_column=src_column, tgt_column=tgt_column, limit=FEW_PAIRS)
            count += sum(batch.num_rows for batch in batches)
            if count >= FEW_PAIRS:
                return
        if count:
            warnings.warn(few_pairs_warning(count), stacklevel=4)


def distill_encoder(
    teacher: str,
    texts: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    lang: str = "en",
    network: Literal["average", "transformer"] = "average",
    spec: str = "word,trigram",
    dimension: int = 300,
    steps: int | None = None,
    ensemble: Sequence[str] = (),
    sts: str | Path | None = None,
    on_error: OnError = "stop",
    workers: int | None = None,
    seed: int = 1,
    **config: Any,
) -> RunResult:
    """Train a small, fast encoder to give sentences the similarities that a large one gives them; no labels needed.

    An average encodes hundreds of thousands of sentences per second; its words start from the large encoder's vectors
    of single words. A transformer reads words in order and comes closer to the large one; it starts from the large
    encoder's token embeddings.

    Args:
        teacher: A sentence-transformers model: its folder, or a Hugging Face name. For a transformer it must be a
            folder.
        texts: Sentences without labels: files of lines, pairs, or corpus folders.
        output: Folder of the encoder.
        lang: Language of the sides of pairs that are used.
        network: An average of words and n-grams, or a small transformer, slower and better.
        spec: Of an average: parts, as for `train encoder`.
        dimension: Of an average: width of each part.
        steps: Batches of 512 sentences; default: 20,000, or 6,000 for a transformer. An average ends earlier if
            sentences that are held out stop gaining, and the encoder that is best on them is kept.
        ensemble: Further teachers; the similarities to learn are the means of all teachers'.
        sts: Folder of similarity tasks, for development figures; of transformers the best one is then kept.
        on_error: 'stop' at a row that cannot be read, or 'reject' it.
        workers: Processes; default: one per core. The result is the same.
        seed: Seed of every random choice.
        **config: Of a transformer: further fields of `paraloom.stages.DistillTransformer`, such as `layers` and
            `vocab_size`.

    Returns:
        The result; its figures have the number of sentences and the loss.

    Raises:
        ConfigError: Options of a transformer are given for an average.
        ModelError: For a transformer: the teacher is not the folder of a sentence-transformers model.
        MissingExtraError: The extra `distill` is not installed.

    Reference:
        Reimers and Gurevych (2020), "Making monolingual sentence embeddings multilingual using knowledge distillation".

    Example:
        >>> teacher = "sentence-transformers/all-MiniLM-L6-v2"
        >>> distill_encoder(teacher, "news.txt", "student")  # downloads the teacher  # doctest: +SKIP
    """
    if network not in ("average", "transformer"):
        raise ConfigError(f"'network' is '{network}'; expected 'average' or 'transformer'")
    if network == "average" and config:
        raise ConfigError(
            f"an average does not have {', '.join(map(repr, config))}", remedy="Set network='transformer'."
        )
    if network == "transformer" and not (Path(teacher) / "modules.json").is_file():
        raise ModelError(
            "not the folder of a sentence-transformers model, whose token embeddings a transformer starts from",
            file=teacher,
            remedy="Download the model, and name the folder with its modules.json.",
        )
    stages, encoder = teacher_stages(teacher)
    more: list[Ref] = []
    for number, name in enumerate(ensemble, start=2):
        loading, reference = teacher_stages(name, f"teacher-{number}")
        stages += loading
        more.append(reference)
    corpora: list[Ref] = []
    files: list[Path] = []
    for number, source in enumerate(map(str, as_list(texts)), start=1):
        if Path(source).is_file() and without_compression(source).suffix in (".txt", ".en", ""):
            files.append(Path(source).absolute())
            continue
        reading, reference = input_stages(source, name=f"text-{number}", on_error=on_error)
        stages += reading
        corpora.append(reference)
    # Explicit names: seeds derive from them.
    sentences = ReadSentences(
        name="sentences", corpora=tuple(corpora), text_files=tuple(files), lang=lang, bad_rows=on_error
    )
    encoded = Encode(encoder=encoder, ensemble=tuple(more), input=sentences)
    stages += [sentences, encoded]
    tasks = absolute_path(sts)
    if network == "transformer":
        config |= {} if steps is None else {"steps": steps}
        config.setdefault("device", default_device())
        folder = Path(teacher).absolute()
        transformer = DistillTransformer(sentences=(encoded,), teacher=folder, sts=tasks, **config)
        return run_stages([*stages, transformer], str(output), seed=seed, workers=workers)
    vectors = None
    if "word" in parse_spec(spec).units:
        vectors = DistillWords(
            encoder=encoder,
            corpora=(sentences,),
            dimension=dimension,
            pad_dimensions=True,
            norm=1.0,
            sif_coefficient=1 / DistillationConfig.frequency_damping,
            max_words=DistillationConfig.word_vocab_size,
        )
        stages.append(vectors)
    student = DistillEncoder(
        name="distil-encoder",
        sentences=(encoded,),
        vectors=vectors,
        spec=spec,
        dimension=dimension,
        steps=20_000 if steps is None else steps,
        sts=tasks,
    )
    return run_stages([*stages, student], str(output), seed=seed, workers=workers)


def teacher_stages(teacher: str, name: str = "") -> tuple[list[Stage], Ref]:
    """The stages that load a large encoder, by folder or by name, and what later stages refer to."""
    folder = Path(teacher)
    if not folder.exists() and (bundled := bundled_path(teacher)) is not None:
        return [], bundled
    if folder.exists():
        stage = LoadEncoder(name=name, folder=folder.absolute())
    else:
        check_name(teacher)
        stage = LoadEncoder(name=name, model=teacher)
    return [stage], stage


def encode_file(
    encoder: EncoderLike | str | Path,
    source: str | Path = PIPE,
    output: str | Path = "vectors.npy",
    *,
    on_error: OnError = "stop",
) -> int:
    """Encode lines of text as vectors, streaming.

    Args:
        source: A sentence per line; - is standard input.
        output: Vectors: .npy, float32 (lines, d), or .parquet with the text.
    """
    source = str(source)
    path = Path(output)
    check_local(path)
    if path.suffix not in (".npy", ".parquet"):
        raise ConfigError(
            f"unknown format '{path.suffix}' of vectors", file=path, remedy="Name the output .npy or .parquet."
        )
    model = open_encoder(encoder, available_threads())
    rejected = RejectedLines(on_error)
    chunks = _warn_of_columns(_warn_of_language(encoder, batched(rejected.read(source), CHUNK)), source)
    if path.suffix == ".parquet":
        count = _to_parquet(model, chunks, path)
        rejected.report(path)
        return count
    count = 0
    with atomic_write(path) as temporary, temporary.open("wb") as stream, progress("encoding", unit="lines") as advance:
        _header(stream, 0, model.dimension)
        for lines in chunks:
            stream.write(np.ascontiguousarray(model.encode(lines), "<f4").data)
            count += len(lines)
            advance(len(lines))
        stream.seek(0)
        _header(stream, count, model.dimension)
    rejected.report(path)
    return count


def export_encoder(
    encoder: str | Path, output: str | Path, *, onnx: bool = False, int8: bool = False, megabytes: float | None = None
) -> str:
    """Export an encoder as a folder for sentence-transformers, or as an ONNX graph, with the same vectors.

    The folder is ready for the Hugging Face Hub: its card has the licenses, languages and results of the encoder's.

    Args:
        encoder: A bundled name such as english, or a folder.
        output: The folder to write.
        onnx: Write an ONNX graph and its vocabularies instead.
        int8: Write an encoder in int8 instead: a quarter of the size; `encode` reads it.
        megabytes: Of an average of words and n-grams: write an encoder of at most so many megabytes instead, such as 1,
            of its most frequent words, with codes in place of numbers; `encode` reads it.
    """
    if onnx + int8 + (megabytes is not None) > 1:
        raise ConfigError("'onnx', 'int8' and 'megabytes' cannot be combined", remedy="Export twice, into two folders.")
    folder = model_path(encoder)
    if megabytes is not None:
        if is_trained_transformer(folder) or is_transformer(folder):
            raise ConfigError("a transformer cannot be made smaller", file=encoder, remedy="Leave 'megabytes' out.")
        card = len(_card_of(folder).encode()) / 1e6
        return _save_derived(product_quantize(load_encoder(folder), megabytes - card), folder, output)
    if is_trained_transformer(folder):
        return _export_transformer(folder, Path(output), onnx=onnx, int8=int8)
    if is_transformer(folder):
        if int8:
            raise ConfigError("the encoder is in int8 already", file=encoder, remedy="Copy its folder.")
        return _export_converted(folder, Path(output), onnx=onnx)
    model = load_encoder(folder)
    if int8:
        return _save_derived(quantize(model), folder, output)
    if onnx:
        export_onnx(model, output)
        return str(Path(output) / FILE)
    if export_sentence_transformer(model, output, _card_of(folder)):
        return f"SentenceTransformer({str(output)!r})"
    return (
        f"SentenceTransformer({str(output)!r}, trust_remote_code=True)  # or Encoder.load({str(output)!r})\n"
        f"The modules of sentence-transformers cannot compute {model.spec}: the folder has code, modeling_paraloom.py, "
        "which needs paraloom. Exported without code: transformers, such as english-small, and averages of words alone "
        "or of subwords alone."
    )


def _save_derived(encoder: SentenceEncoder, origin: Path, output: str | Path) -> str:
    """Save what was made of an encoder, with the licenses and sources of its card."""
    with atomic_folder(output, CONFIG) as partial:
        save_encoder(encoder, partial)
        card = partial / CARD
        card.write_text(derived_card(card.read_text(encoding="utf-8"), _card_of(origin)), encoding="utf-8")
    return f"Encoder.load({str(output)!r})"


def _card_of(folder: Path) -> str:
    card = folder / CARD
    return card.read_text(encoding="utf-8") if card.is_file() else ""


def _export_converted(folder: Path, output: Path, *, onnx: bool) -> str:
    with imports_of_extra("distill", "export of a transformer"):
        from paraloom.embed.converted import restore_transformer
    with TemporaryDirectory() as scratch:
        restored = Path(scratch) / "model"
        restored.mkdir()
        restore_transformer(folder, restored)
        (restored / CARD).write_text(exported_card(_card_of(folder), note=RESTORED), encoding="utf-8")
        return _export_transformer(restored, output, onnx=onnx, int8=False)


def _export_transformer(folder: Path, output: Path, *, onnx: bool, int8: bool) -> str:
    if int8:
        with atomic_folder(output, TRANSFORMER_CONFIG) as partial:
            convert_transformer(folder, partial)
            # The converter's view of the model.
            shutil.rmtree(partial / "checkpoint", ignore_errors=True)
        return f"Encoder.load({str(output)!r})"
    if not onnx:
        return f"SentenceTransformer({str(Encoder.load(folder).save(output))!r})"
    with imports_of_extra("onnx", "export --onnx"):
        from paraloom.embed.transformer_onnx import export_transformer_onnx
        from paraloom.embed.transformer_store import load_transformer
    export_transformer_onnx(load_transformer(folder), output)
    return str(output / FILE)


def _to_parquet(model: EncoderLike, chunks: Iterable[list[str]], output: Path) -> int:
    schema = pa.schema([("text", pa.string()), ("vector", pa.list_(pa.float32(), model.dimension))])
    count = 0
    with (
        atomic_write(output) as temporary,
        shard_writer(temporary, schema) as writer,
        progress("encoding", unit="lines") as advance,
    ):
        for lines in chunks:
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(model.encode(lines).ravel()), model.dimension)
            writer.write_batch(pa.record_batch([pa.array(lines, pa.string()), vectors], schema=schema))
            count += len(lines)
            advance(len(lines))
    return count


def _header(stream: IO[bytes], rows: int, width: int) -> None:
    # A fixed 128 bytes for any count below 10¹⁵, so that it can be overwritten once the rows are counted.
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": (rows, width)})


def _warn_of_language(encoder: EncoderLike | str | Path, chunks: Iterable[list[str]]) -> Iterator[list[str]]:
    """The chunks; before the first, a warning if the encoder is not for its language."""
    for number, lines in enumerate(chunks):
        if not number:
            warn_of_encoder_language(encoder, lines)
        yield lines


def _warn_of_columns(chunks: Iterable[list[str]], source: str) -> Iterator[list[str]]:
    """The chunks; after the last, a warning if most of the lines have tabs, as those of a table do."""
    source = Path(source).name
    tabbed = count = 0
    for lines in chunks:
        tabbed += sum("\t" in line for line in lines)
        count += len(lines)
        yield lines
    if 2 * tabbed > count:
        warnings.warn(
            f"{tabbed:,} of {count:,} lines of {source} have tabs, and were encoded with all their columns; to encode "
            f"one column, write `cut -f 1 {source} | paraloom encode …`",
            stacklevel=2,
        )
