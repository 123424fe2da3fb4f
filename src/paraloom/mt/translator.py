"""Translation with CTranslate2: sentences in, scored translations out, the same at any number of threads."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, overload

import numpy as np

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, ModelError, RunError, nearest
from paraloom.core.progress import loading, progress
from paraloom.core.protocols import Variant
from paraloom.core.seeds import generator, spawn_seed
from paraloom.mt.checkpoint import find_translator, read_card
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.costs import COST_DECODING, CostMonitor, read_costs
from paraloom.mt.decoding import Beam, Decoding, Mbr, describe_decoding, parse_decoding
from paraloom.mt.shortlist import SHORTLIST_FILE
from paraloom.mt.subwords import END, UNKNOWN, Subwords, has_language_tag
from paraloom.text.normalize import normalize
from paraloom.text.utility import expected_utility

ENGINE_FILES = ("model.bin", "config.json", "source.spm", "target.spm")
"""What every translator folder has, besides shared_vocabulary.json or source_vocabulary.json."""

VOCABULARIES = ("shared_vocabulary.json", "source_vocabulary.json")

MAX_LENGTH = 256
"""Subwords of a sentence that are translated, and of a translation; the rest of a longer sentence is ignored."""

CHUNK = 200
"""Sentences of a text in memory that a core takes at a time: enough to sort by length, few enough to share out."""

DEVICES = ("cpu", "cuda", "auto")

_seeding = threading.Lock()


class Translator:
    """A machine translation model that runs on CTranslate2.

    Use `load` for anything but a folder that is known to be a CTranslate2 model. One object translates on one core; to
    use several, use `translate_stream` or `best_translations`, or a pipeline.

    Args:
        folder: Model folder: model.bin, config.json and the vocabulary as CTranslate2 writes them, with source.spm and
            target.spm.
        decoding: How it translates by default, as a `Decoding` or as text such as 'beam:12,nbest=3'.
        source: Source language. Checked against the model card, where that names one.
        target: Target language; multilingual Marian models translate into it.
        device: 'cpu', 'cuda' or 'auto' (a GPU if there is one).
        check_costs: Warn, once, if what it translates costs more than its development text did, and translations are
            likely to be wrong. Needs costs.json in the folder, as training writes it.

    Raises:
        ModelError: A file is missing from the folder, or costs.json is damaged.
        ConfigError: The model does not translate from `source` or into `target`, or an unknown decoding or device.

    Example:
        >>> translator = Translator.load("de-en")
        >>> translator.translate(["Guten Morgen"])[0][0].text
        'Good morning'
    """

    def __init__(
        self,
        folder: str | Path,
        decoding: str | Decoding | None = None,
        *,
        source: str | None = None,
        target: str | None = None,
        device: str = "cpu",
        check_costs: bool = True,
    ) -> None:
        if device not in DEVICES:
            raise ConfigError(f"unknown device '{device}'{nearest(device, DEVICES)}")
        self.folder = Path(folder)
        self.decoding: Decoding = Beam() if decoding is None else _as_decoding(decoding)
        self.device = device
        _check_folder(self.folder)
        self.source, self.target, self._tag = _languages(self.folder, source, target)
        self._subwords = Subwords(self.folder)
        self._engine: Any = None
        self.costs = read_costs(self.folder)
        """Costs on its development text (`paraloom.mt.costs`); None if the folder does not have them."""
        self._monitor = CostMonitor(self.costs) if check_costs and self.costs is not None else None

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        source: str | None = None,
        target: str | None = None,
        decode: str | Decoding = "beam:5",
        device: str = "cpu",
        precision: str = "int8",
        check_costs: bool = True,
    ) -> Translator:
        """Load a translator by folder or name.

        Args:
            model: A folder that `save`, training or CTranslate2 wrote; a folder with a Marian checkpoint of
                transformers; the name of a bundled translator (`de-en`); or a Hugging Face name such as
                `Helsinki-NLP/opus-mt-de-en`. A checkpoint is converted once and kept in the cache ($PARALOOM_CACHE, or
                ~/.cache/paraloom). Only a Hugging Face name that is not in the cache is downloaded.
            source: Source language, if the model has several.
            target: Target language, if the model has several, as the model writes it (`deu` for `>>deu<<`).
            decode: How it translates by default, such as 'beam:12,nbest=3', 'sampling' or 'nucleus:0.95'.
            device: 'cpu', 'cuda' or 'auto'.
            precision: Number format that a checkpoint is converted to: 'int8', 'int16', 'float32', 'float16',
                'bfloat16' or 'int8_float32'. A folder that is already converted keeps its own.
            check_costs: Warn, once, about text that the translator is likely to translate wrong.

        Returns:
            The translator.

        Raises:
            ModelError: The model was not found, or its folder is incomplete.
            ConfigError: Unknown decoding, device, precision or language.
            MissingExtraError: A checkpoint has to be converted, and torch or transformers is not installed.

        Example:
            >>> Translator.load("de-en", decode="nucleus:0.95").decoding
            Nucleus(p=0.95, nbest=1, temperature=1.0, within=0, shortlist=0)
        """
        with loading(f"the translator {model}"):
            folder = find_translator(model, precision=precision)
            return cls(folder, decode, source=source, target=target, device=device, check_costs=check_costs)

    def save(self, folder: str | Path) -> Path:
        """Copy the model to another folder, from which `load` reads it.

        Args:
            folder: New or empty, or a translator, which is replaced.

        Returns:
            The folder.

        Raises:
            ConfigError: The folder has other files in it.

        Example:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> Translator.load(Translator.load("de-en").save(folder)).target
            'en'
        """
        folder = Path(folder)
        if folder.exists() and folder.resolve() == self.folder.resolve():
            return folder
        if folder.is_dir() and any(folder.iterdir()):
            if not (folder / "model.bin").is_file():
                raise ConfigError(f"folder '{folder}' has other files in it", remedy="Name a new or an empty folder.")
            shutil.rmtree(folder)
        shutil.copytree(self.folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    @property
    def signature(self) -> str:
        """Digest of the weights, decoding and version in the style of sacreBLEU, for metadata and results."""
        return self.signature_of(self.decoding)

    def signature_of(self, decode: str | Decoding) -> str:
        """The signature of a decoding of this model.

        Args:
            decode: A decoding, or its text.

        Returns:
            As `signature`, with this decoding.
        """
        model = file_digest(self.folder / "model.bin")[:12]
        return signature("translator", model=model, decode=describe_decoding(_as_decoding(decode)))

    def with_decoding(self, decode: str | Decoding) -> Translator:
        """The same model with another default decoding and an engine of its own.

        Args:
            decode: A decoding, or its text such as 'beam:12'.

        Returns:
            Another translator.

        Example:
            >>> Translator.load("de-en").with_decoding("greedy").decoding.size
            1
        """
        other = Translator(
            self.folder, decode, source=self.source, target=self.target, device=self.device, check_costs=False
        )
        other._monitor = self._monitor
        return other

    def __repr__(self) -> str:
        vocabulary = next(path for name in VOCABULARIES if (path := self.folder / name).is_file())
        sizes = [f"{len(json.loads(vocabulary.read_text(encoding='utf-8'))):,} subwords"]
        training = self.folder / "training.json"
        if training.is_file():
            facts = json.loads(training.read_text(encoding="utf-8"))
            config = TranslatorConfig.from_saved(facts["config"])
            sizes.insert(0, f"{facts['parameters'] / 1e6:.1f} million parameters")
            sizes.insert(0, f"{config.encoder_layers}+{config.decoder_layers} layers of {config.d_model}")
        else:
            sizes.insert(0, f"{(self.folder / 'model.bin').stat().st_size / 2**20:.1f} MiB")
        decode = describe_decoding(self.decoding)
        return (
            f"<Translator {self.source or '?'} → {self.target or '?'}: {', '.join(sizes)}; "
            f"decode='{decode}', device='{self.device}', folder='{self.folder}'>"
        )

    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        sentences: str,
        *,
        decode: str | Decoding | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
    ) -> list[Variant]: ...

    @overload
    def translate(
        self,
        sentences: Sequence[str],
        *,
        decode: str | Decoding | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
    ) -> list[list[Variant]]: ...

    def translate(
        self,
        sentences: str | Sequence[str],
        *,
        decode: str | Decoding | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
    ) -> list[Variant] | list[list[Variant]]:
        """Translate sentences.

        They are normalized, decoded in batches of similar length, and returned in their order. At most `MAX_LENGTH`
        subwords of a sentence are read and generated; a beam stops at about three times the length of its source. A
        warning, once, says if they cost more than the translator's development text did.

        Args:
            sentences: A list of texts (or a tuple, an array, an Arrow or pandas column), or one text.
            decode: How to translate, such as 'beam:12,nbest=3', 'nucleus:0.95' or 'mbr:chrf,samples=16'; None takes
                the default of the translator. The model is not loaded again, except that every random decoding starts
                an engine of its own (CTranslate2 reads its seed only then).
            seed: Of random decodings. The same texts in the same order with the same seed give the same translations.
            batch_tokens: Subwords that are decoded at a time; None chooses by the number of hypotheses. It affects
                speed and memory, and what random decodings draw.

        Returns:
            For each text its variants: best first for a beam and for minimum Bayes risk, in random order for samples.
            Each has `text`, `logprob` (natural logarithm of p(text | source), a sum over tokens), `tokens` (subwords,
            the end of sentence included), `cut` (it was stopped at the maximum length) and `utility` (of `mbr`, else
            None). An empty text has one empty variant of probability 1 and no tokens. For one text, its list of
            variants alone.

        Raises:
            TypeError: `sentences` is not a text or a sequence of texts.
            ConfigError: Unknown decoding, or a value of it is out of range.

        Example:
            >>> translator = Translator.load("de-en")
            >>> variants = translator.translate(["Guten Morgen", "Ich bin müde."], decode="beam:12,nbest=3")
            >>> [len(group) for group in variants], variants[1][0].text
            ([3, 3], "I'm tired.")
            >>> [variant.text for variant in translator.translate("Guten Morgen")]
            ['Good morning']
        """
        if isinstance(sentences, str):
            return self.translate([sentences], decode=decode, seed=seed, batch_tokens=batch_tokens)[0]
        decoding = self.decoding if decode is None else _as_decoding(decode)
        texts: list[str] = normalize(_as_texts(sentences)).to_pylist()
        variants = self._decoded(texts, decoding, seed, batch_tokens)
        self._observe(decoding, texts, variants)
        return variants

    def _decoded(
        self, texts: Sequence[str], decoding: Decoding, seed: int, batch_tokens: int | None
    ) -> list[list[Variant]]:
        """The variants of normalized texts."""
        if isinstance(decoding, Mbr):
            samples = self._decoded(texts, decoding.proposal, seed, batch_tokens)
            beam = Beam(decoding.beam, shortlist=decoding.shortlist) if decoding.beam else None
            further = self._decoded(texts, beam, seed, batch_tokens) if beam else [[] for _ in texts]
            return minimum_risk(samples, further, decoding)
        nonempty = [row for row, text in enumerate(texts) if text]
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        if nonempty:
            rows = [
                _truncate(pieces) for pieces in self._subwords.encode([self._tagged(texts[row]) for row in nonempty])
            ]
            options = self.engine_options(decoding)
            if batch_tokens is not None:
                options["max_batch_size"] = batch_tokens
            engine = self._seeded(seed) if decoding.random else self._loaded()
            for max_length, indices in _by_max_length(decoding, rows):
                options["max_decoding_length"] = max_length
                results = _guarded(engine.translate_batch, [rows[index] for index in indices], **options)
                groups = self._variants(decoding, results, seed, max_length)
                for index, group in zip(indices, groups, strict=True):
                    variants[nonempty[index]] = group
        return variants

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Score given translations.

        Args:
            sources: Sentences, n.
            targets: Their translations, n.

        Returns:
            For each pair the log-probability of the translation (natural logarithm, a sum over its tokens) and the
            number of tokens, the end of sentence included.

        Raises:
            TypeError: An argument is not a sequence of texts.

        Example:
            >>> [(good, _), (bad, _)] = Translator.load("de-en").score(["Hallo."] * 2, ["Hello.", "Goodbye."])
            >>> good > bad
            True
        """
        pieces = self._subwords.encode_target(normalize(_as_texts(targets)).to_pylist())
        # CTranslate2 adds the end of sentence itself.
        results = _guarded(
            self._loaded().score_batch,
            self._subwords.encode([self._tagged(text) for text in normalize(_as_texts(sources)).to_pylist()]),
            [row[:-1] for row in pieces],
            max_batch_size=2048,
            batch_type="tokens",
        )
        return [(float(sum(result.log_probs)), len(result.log_probs)) for result in results]

    def engine_options(self, decode: str | Decoding | None = None) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch for a decoding, batching included.

        Args:
            decode: A decoding, or its text; None takes the default of the translator.

        Returns:
            Name of each argument and its value.

        Raises:
            ModelError: The decoding needs a shortlist, and the model has none.
        """
        decoding = self.decoding if decode is None else _as_decoding(decode)
        options = decoding.options()
        if decoding.shortlist and not (self.folder / SHORTLIST_FILE).is_file():
            raise ModelError(
                f"the model has no shortlist ({SHORTLIST_FILE})",
                file=self.folder,
                remedy="Decode without shortlist=1; translators that Paraloom trained have one.",
            )
        hypotheses = options["beam_size"] if isinstance(decoding, Beam) else options["num_hypotheses"]
        # Few hypotheses at a time keep the working set in the cache: fastest around 1,500 tokens. With a shortlist,
        # fewer sentences are faster, because a batch scores every word that any of them allows.
        limit = 192 if decoding.shortlist else 640
        return {
            **options,
            "max_batch_size": max(64, min(limit, 1536 // hypotheses)),
            "batch_type": "tokens",
            "max_decoding_length": MAX_LENGTH,
            "return_scores": True,
        }

    def _observe(self, decoding: Decoding, texts: Sequence[str], variants: Sequence[Sequence[Variant]]) -> None:
        """Compare costs with those of the development text: like with like, so samples are not what is compared."""
        if self._monitor is None:
            return
        if not decoding.random:
            self._monitor.add(variants)
        elif missing := self._monitor.missing:
            plain = self.with_decoding(COST_DECODING)
            plain._monitor = None
            self._monitor.add(plain.translate([text for text in texts if text.strip()][:missing]))

    def _tagged(self, text: str) -> str:
        return f"{self._tag} {text}" if self._tag and not has_language_tag(text) else text

    def _variants(
        self, decoding: Decoding, results: Iterable[Any], seed: int, max_length: int
    ) -> Iterator[list[Variant]]:
        penalty = decoding.options()["length_penalty"]
        order = generator(seed)
        texts = iter(self._subwords.decode([hypothesis for result in results for hypothesis in result.hypotheses]))
        for result in results:
            variants = []
            for hypothesis, score in zip(result.hypotheses, result.scores, strict=True):
                # The end of sentence was scored, too, unless the maximum length came before it.
                cut = len(hypothesis) >= max_length
                tokens = len(hypothesis) + (not cut)
                variants.append(Variant(next(texts), score * tokens**penalty, tokens, cut))
            if decoding.random and len(variants) > 1:
                # CTranslate2 sorts samples by score; shuffled, the first one is a fair sample.
                variants = [variants[i] for i in order.permutation(len(variants))]
            yield variants

    def _loaded(self) -> Any:
        if self._engine is None:
            self._engine = self._new_engine()
        return self._engine

    def _seeded(self, seed: int) -> Any:
        # An engine reads the seed only once: its thread makes its generator at the first random draw. So each seed gets
        # a new engine, and makes that first draw here, where no other thread can change the seed.
        import ctranslate2

        with _seeding:
            ctranslate2.set_random_seed(seed % 2**31)
            engine = self._new_engine()
            # A lone end of sentence would count as empty, and draw nothing.
            engine.translate_batch([[UNKNOWN, END]], sampling_topk=0, max_decoding_length=1)
        return engine

    def _new_engine(self) -> Any:
        import ctranslate2

        try:
            return ctranslate2.Translator(str(self.folder), device=self.device, inter_threads=1, intra_threads=1)
        except (RuntimeError, ValueError) as error:
            raise ModelError(
                f"CTranslate2 cannot load the model: {error}",
                file=self.folder,
                remedy="Train or convert the model again.",
            ) from None


def minimum_risk(
    samples: Sequence[Sequence[Variant]], further: Sequence[Sequence[Variant]], decoding: Mbr
) -> list[list[Variant]]:
    """Choose the translations with the highest expected utility.

    Args:
        samples: n lists of samples: candidates, and what they are compared with.
        further: n lists of further candidates.
        decoding: Metric, and how many translations to choose.

    Returns:
        n lists of at most `decoding.nbest` variants of distinct texts, best first, with their `utility`; of equal
        utilities, the more likely variant is first. An empty sentence, which has no tokens, keeps its one variant.

    Example:
        >>> samples = [[Variant("a cat", -1.0, 3), Variant("a dog", -2.0, 3), Variant("the cat", -3.0, 3)]]
        >>> minimum_risk(samples, [[]], Mbr(samples=3))[0][0].text  # has most in common with the others
        'the cat'
    """
    candidates: list[list[Variant]] = []
    for drawn, added in zip(samples, further, strict=True):
        distinct: dict[str, Variant] = {}
        for variant in sorted([*drawn, *added], key=lambda variant: -variant.logprob):
            # The same text may have been generated in other subwords: the likeliest represent it.
            distinct.setdefault(variant.text, variant)
        candidates.append(list(distinct.values()))
    texts, references = ([[variant.text for variant in group] for group in groups] for groups in (candidates, samples))
    chosen: list[list[Variant]] = []
    for group, values in zip(candidates, expected_utility(texts, references, decoding.metric), strict=True):
        if not group[0].tokens:
            chosen.append(group[:1])
            continue
        best = np.argsort(-values, kind="stable")[: decoding.nbest].tolist()
        chosen.append([group[index]._replace(utility=float(values[index])) for index in best])
    return chosen


def translate_stream(
    translator: Translator,
    chunks: Iterable[Sequence[str]],
    *,
    threads: int,
    seed: int = 0,
) -> Iterator[list[list[Variant]]]:
    """Translate chunk after chunk on several cores.

    Args:
        translator: Each thread gets a copy of it.
        chunks: Lists of sentences; at most 2 × `threads` of them are in memory.
        threads: Cores. Their number does not change the translations.
        seed: Chunk i is translated with a seed derived from this and i.

    Yields:
        The variants of each chunk, in order.
    """
    idle = deque(translator.with_decoding(translator.decoding) for _ in range(threads))
    for copy in idle:
        copy._monitor = None  # results are compared below, in their order

    def work(position: int, chunk: Sequence[str]) -> list[list[Variant]]:
        own = idle.popleft()
        try:
            return own.translate(chunk, seed=spawn_seed(seed, position) % 2**31)
        finally:
            idle.append(own)

    waiting: deque[tuple[Sequence[str], Future[list[list[Variant]]]]] = deque()

    def first() -> list[list[Variant]]:
        chunk, future = waiting.popleft()
        variants = future.result()
        translator._observe(translator.decoding, chunk, variants)
        return variants

    pool = ThreadPoolExecutor(threads)
    try:
        for position, chunk in enumerate(chunks):
            waiting.append((chunk, pool.submit(work, position, chunk)))
            if len(waiting) >= 2 * threads:
                yield first()
        while waiting:
            yield first()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def best_translations(translator: Translator, sentences: Sequence[str]) -> list[str]:
    """Translate a text that fits into memory, on all cores and with a progress bar.

    Args:
        translator: The translator.
        sentences: The text, a list of sentences.

    Returns:
        The first variant of each sentence, in order.

    Example:
        >>> best_translations(Translator.load("de-en"), ["Guten Morgen", "Ich bin müde."])
        ['Good morning', "I'm tired."]
    """
    return [variant.text for variant in best_variants(translator, sentences)]


def best_variants(translator: Translator, sentences: Sequence[str]) -> list[Variant]:
    """The same with log-probabilities.

    Args:
        translator: The translator.
        sentences: The text, a list of sentences.

    Returns:
        The first variant of each sentence, in order.
    """
    best: list[Variant] = []
    chunks = (sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK))
    with progress("translating", len(sentences), unit="sentences") as advance:
        for groups in translate_stream(translator, chunks, threads=os.cpu_count() or 1):
            best += [variants[0] for variants in groups]
            advance(len(groups))
    return best


def _by_max_length(decoding: Decoding, rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[int]]]:
    """Maximum subwords of a translation, and the indices of the sentences that it applies to.

    The beam of a weak translator repeats itself until it is stopped: a few such sentences would take longer than all
    others. Samples end by themselves, and they depend on what is in their batch, as a shortlist does.
    """
    if decoding.random or decoding.shortlist:
        yield MAX_LENGTH, list(range(len(rows)))
        return
    groups: dict[int, list[int]] = {}
    for index, pieces in enumerate(rows):
        # Three times the source length, rounded up to a multiple of eight, and sixteen.
        limit = min(MAX_LENGTH, 3 * 8 * -(-len(pieces) // 8) + 16)
        groups.setdefault(limit, []).append(index)
    yield from groups.items()


def _truncate(pieces: list[str]) -> list[str]:
    return [*pieces[: MAX_LENGTH - 1], END] if len(pieces) > MAX_LENGTH else pieces


def _as_decoding(decode: str | Decoding) -> Decoding:
    if isinstance(decode, str):
        return parse_decoding(decode)
    if isinstance(decode, Decoding):
        return decode
    raise TypeError(f"'decode' must be text such as 'beam:5', or a Decoding, got {type(decode).__name__}")


def _as_texts(sentences: Any) -> list[str]:
    """A sequence or column of texts as a list; TypeError for anything else."""
    expected = "'sentences' must be a text or a sequence of texts"
    for method in ("to_pylist", "tolist", "to_list"):  # Arrow, NumPy and pandas, polars
        if hasattr(sentences, method):
            sentences = getattr(sentences, method)()
            break
    if not isinstance(sentences, Sequence) or isinstance(sentences, (str, bytes, bytearray)):
        raise TypeError(f"{expected}, got {type(sentences).__name__}")
    for row, text in enumerate(sentences):
        if not isinstance(text, str):
            raise TypeError(f"{expected}, got {type(text).__name__} at index {row}")
    return list(sentences)


def _languages(folder: Path, source: str | None, target: str | None) -> tuple[str | None, str | None, str]:
    """Source and target language, None if unknown, and the tag that makes a multilingual model translate into it."""
    known = [side.strip() for side in read_card(folder).get("languages", "").split("→")]
    if len(known) != 2:
        match = re.search(r"opus-mt-([a-z]{2,3})-([a-z]{2,3})(?![a-zA-Z])", folder.name)
        known = list(match.groups()) if match else []
    tag = f">>{target}<<"
    tags = _language_tags(folder) if target else []
    if target and tags:
        if tag not in tags:
            raise ConfigError(f"unknown target language '{target}'{nearest(target, [name[2:-2] for name in tags])}")
        return source or (known[0] if known else None), target, tag
    for side, given, own in zip(("source", "target"), (source, target), known, strict=False):
        if given and given != own:
            raise ConfigError(
                f"the model in {folder} translates {known[0]} → {known[1]}, not with {side} language '{given}'"
            )
    return source or (known[0] if known else None), target or (known[1] if known else None), ""


def _language_tags(folder: Path) -> list[str]:
    """Pieces such as `>>deu<<` in the source vocabulary."""
    path = next(path for name in VOCABULARIES if (path := folder / name).is_file())
    pieces = json.loads(path.read_text(encoding="utf-8"))
    return [piece for piece in pieces if piece.startswith(">>") and piece.endswith("<<")]


def _check_folder(folder: Path) -> None:
    remedy = "Name the folder of a translator; if this is one, copy the whole folder again."
    if not folder.is_dir():
        raise ModelError("model folder not found", file=folder, remedy="Check the path.")
    for name in ENGINE_FILES:
        if not (folder / name).is_file():
            raise ModelError(f"not a translator: {name} not found", file=folder, remedy=remedy)
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise ModelError("not a translator: shared_vocabulary.json not found", file=folder, remedy=remedy)
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError:
        raise ModelError("config.json is not valid JSON", file=folder, remedy=remedy) from None


def _guarded(call: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except (RuntimeError, ValueError) as error:
        raise RunError(
            f"decoding failed: {error}", remedy="Check that the model folder is complete and that memory suffices."
        ) from None
