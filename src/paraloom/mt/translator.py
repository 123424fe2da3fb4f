"""Translation with CTranslate2: sentences in, scored translations out, the same at any number of threads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast, overload

from paraloom.bundled import bundled_path
from paraloom.core.devices import default_device, parse_device
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError
from paraloom.core.progress import loading
from paraloom.core.protocols import Variant
from paraloom.io.atomic import atomic_folder
from paraloom.mt.batch_decoder import BatchDecoder
from paraloom.mt.checkpoint import AUTO, check_precision, find_translator
from paraloom.mt.choice import choose
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.costs import COST_DECODING, CostMonitor, read_costs
from paraloom.mt.decoding import Beam, Decoding, as_decoding, describe_decoding
from paraloom.mt.engine import check_folder
from paraloom.mt.families import folder_settings, get_family
from paraloom.mt.families.base import VOCABULARIES, Codec, EncoderDecoder
from paraloom.mt.long_texts import LongTexts
from paraloom.mt.names import stronger_translator
from paraloom.mt.splitting import Long, check_long
from paraloom.text.normalize import normalize
from paraloom.text.sequences import list_of_strings


class TranslationOptions(TypedDict, total=False):
    """Keywords of `Translator.translate`, for type checkers."""

    decode: str | Decoding | None
    seed: int
    batch_tokens: int | None
    prefixes: Sequence[str] | None


class Translator:
    """A machine translation model that runs on CTranslate2.

    Use `load` for anything but a folder that is known to be a CTranslate2 model. One object translates on one core; to
    use several, use `translate_stream` or `best_translations`, or a pipeline.

    Args:
        folder: Model folder: model.bin, config.json and the vocabulary as CTranslate2 writes them, with the files of
            the tokenizer: source.spm and target.spm, or those that `load` puts beside a converted model.
        decoding: How it translates by default, as a `Decoding` or as text such as 'beam:12,nbest=3'.
        source: Source language: a code of ISO 639-1, -2 or -3 or of FLORES-200, or the model's own. Checked against the
            model card, where that names one.
        target: Target language; multilingual models translate into it.
        device: 'cpu', 'cuda' or 'cuda:0,1' (GPUs), 'auto' (GPUs if there are any). Default: $PARALOOM_DEVICE, or 'cpu'.
        long: What happens to a text that is longer than the model takes: 'split' it at sentences, then at clauses,
            translate the parts and join them; 'truncate' it, with a warning; 'reject' it: its only variant is empty and
            has a `reason`; or 'error'. Default: what the folder says, or 'split'.
        check_costs: Warn, once, if what it translates costs more than its development text did, and translations are
            likely to be wrong. Needs costs.json in the folder, as training writes it.

    Raises:
        ModelError: A file is missing from the folder, or costs.json is damaged.
        ConfigError: The model does not translate from `source` or into `target`, needs a language that is not named, or
            an unknown decoding, device or value of `long`, or a GPU that is not there.

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
        device: str | None = None,
        long: Long | None = None,
        check_costs: bool = True,
    ) -> None:
        self.folder = Path(folder)
        self.decoding: Decoding = Beam() if decoding is None else as_decoding(decoding)
        self.device = str(parse_device(device or default_device()))
        check_folder(self.folder)
        settings = folder_settings(self.folder)
        self.long: Long = check_long(long or settings.get("long", "split"))
        family = cast(EncoderDecoder, get_family(settings["family"]))
        self._codec: Codec = family.open(self.folder, source, target)
        self.source, self.target = self._codec.source, self._codec.target
        self._decoder = BatchDecoder(self.folder, self.device, self._codec)
        self._long_texts = LongTexts(self._codec)
        self.costs = read_costs(self.folder, self.languages)
        """Costs on its development text (`paraloom.mt.costs`); None if the folder does not have them."""
        self._monitor = CostMonitor(self.costs, self.stronger) if check_costs and self.costs is not None else None

    @classmethod
    def load(
        cls,
        model: str | Path,
        *,
        source: str | None = None,
        target: str | None = None,
        decode: str | Decoding = "beam:5",
        device: str | None = None,
        precision: str = AUTO,
        revision: str | None = None,
        long: Long | None = None,
        check_costs: bool = True,
    ) -> Translator:
        """Load a translator by folder or name.

        Args:
            model: A folder that `save`, training or CTranslate2 wrote; a folder with a checkpoint of transformers
                (Marian, NLLB-200, M2M100, mBART-50, T5, mT5, MADLAD-400, BART, PEGASUS); the name of a bundled
                translator (`de-en`); the short name of one that `paraloom models fetch` fetched (`opus-mt-de-en`,
                `nllb-600m`); or a Hugging Face name such as `Helsinki-NLP/opus-mt-de-en`. A checkpoint is converted
                once and kept in the cache ($PARALOOM_CACHE, or ~/.cache/paraloom). Only a Hugging Face name that is
                not in the cache is downloaded.
            source: Source language, if the model has several: 'de', 'deu', 'deu_Latn', 'German' or the model's code.
            target: Target language, if the model has several.
            decode: How it translates by default, such as 'beam:12,nbest=3', 'sampling' or 'nucleus:0.95'.
            device: 'cpu', 'cuda', 'cuda:0,1' or 'auto'. Default: $PARALOOM_DEVICE, or 'cpu'.
            precision: Number format that a checkpoint is converted to: 'int8', 'int8_float16', 'int8_bfloat16',
                'int8_float32', 'int16', 'float16', 'bfloat16' or 'float32'. 'auto' is int8 on processors, and float16
                or, for T5, bfloat16 on GPUs. A folder that is already converted keeps its own.
            revision: Branch, tag or commit of a Hugging Face model.
            long: 'split', 'truncate', 'reject' or 'error': what happens to a text that is longer than the model takes.
                Default: 'split'.
            check_costs: Warn, once, about text that the translator is likely to translate wrong.

        Returns:
            The translator.

        Raises:
            ModelError: The model was not found, is of a kind that is not supported, or its folder is incomplete.
            ConfigError: Unknown decoding, device, precision or language, or a GPU that is not there.
            MissingExtraError: A checkpoint has to be converted, and torch or transformers is not installed.

        Example:
            >>> Translator.load("de-en", decode="beam:12").decoding
            Beam(size=12, nbest=1, length_penalty=1.0, shortlist=0, utility='', reverse='')
            >>> Translator.load("facebook/nllb-200-distilled-600M", source="de", target="en")  # doctest: +SKIP
        """
        if not isinstance(model, (str, Path)):
            raise TypeError(f"'model' must be the name or folder of a translator, got {type(model).__name__}")
        check_precision(precision)
        where = parse_device(device or default_device())
        with loading(f"the translator {model}"):
            folder = find_translator(
                model, precision=precision, device=where.kind, revision=revision, languages=(source, target)
            )
            return cls(
                folder, decode, source=source, target=target, device=str(where), long=long, check_costs=check_costs
            )

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
        present = [name for name in VOCABULARIES if (folder / name).is_file()]
        if folder.is_dir() and any(folder.iterdir()) and not present:
            raise ConfigError(f"folder '{folder}' has other files in it", remedy="Name a new or an empty folder.")
        with atomic_folder(folder, *(present or VOCABULARIES)[:1]) as partial:
            shutil.copytree(self.folder, partial, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    @property
    def stronger(self) -> str:
        """What to do about text that a bundled translator does not know; '' for others."""
        bundled = self.folder == bundled_path(self.folder.name)
        return stronger_translator(self.source, self.target) if bundled and self.source and self.target else ""

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
        # Models of one pair of languages, and lines that are split, as ever since, are not worth a word.
        languages = {"languages": self.languages} if self.languages else {}
        long = {} if self.long == "split" else {"long": self.long}
        return signature("translator", model=model, decode=describe_decoding(as_decoding(decode)), **languages, **long)

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
        return self._copy(decode, self.device)

    def _copy(self, decode: str | Decoding, device: str) -> Translator:
        languages = {"source": self.source, "target": self.target}
        other = Translator(self.folder, decode, **languages, device=device, long=self.long, check_costs=False)
        other._monitor, other._decoder.batch_tokens = self._monitor, self._decoder.batch_tokens
        return other

    def copy_on(self, device: str) -> Translator:
        """A copy on another device that does not compare costs: `observe` compares what copies translated.

        Args:
            device: 'cpu', 'cuda' or 'cuda:1'.

        Returns:
            Another translator.
        """
        other = self._copy(self.decoding, device)
        other._monitor = None
        return other

    @property
    def languages(self) -> str:
        """The pair, such as `de-en`, where it decides what the model translates and so belongs to its signature."""
        many = folder_settings(self.folder)["family"] != "marian"
        return f"{self.source}-{self.target}" if many else ""

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
        self, sentences: str, **options: Unpack[TranslationOptions]
    ) -> list[Variant]: ...

    @overload
    def translate(self, sentences: Sequence[str], **options: Unpack[TranslationOptions]) -> list[list[Variant]]: ...

    def translate(
        self,
        sentences: str | Sequence[str],
        *,
        decode: str | Decoding | None = None,
        seed: int = 0,
        batch_tokens: int | None = None,
        prefixes: Sequence[str] | None = None,
    ) -> list[Variant] | list[list[Variant]]:
        """Translate sentences.

        They are normalized, decoded in batches of similar length, and returned in their order. One that is longer than
        the model takes is split (see `long`). A beam stops at about three times the length of its source. A warning,
        once, says if they cost more than the translator's development text did.

        Args:
            sentences: A list of texts (or a tuple, an array, an Arrow or pandas column), or one text.
            decode: How to translate, such as 'beam:12,nbest=3', 'nucleus:0.95' or 'mbr:chrf,samples=16'; None takes
                the default of the translator. The model is not loaded again, except that every random decoding starts
                an engine of its own (CTranslate2 reads its seed only then).
            seed: Seed of sampling. The same texts in the same order with the same seed give the same translations.
            batch_tokens: Subwords that are decoded at a time; None chooses by the number of hypotheses. It affects
                speed and memory, and what random decodings draw.
            prefixes: How each translation begins, one text for each of `sentences`: the decoder has no choice there.
                The text of a variant is what follows, and its log-probability is that of what follows. Every part of a
                text that is split has the same prefix.

        Returns:
            For each text its variants: best first for a beam and for minimum Bayes risk, in random order for samples.
            Each has `text`, `logprob` (natural logarithm of p(text | source), a sum over tokens), `tokens` (subwords,
            the end of sentence included), `cut` (it was stopped at the maximum length) and `utility` (of `mbr`, else
            None), `pieces` (parts that a long text was translated in, whose sums and joined texts these are) and
            `reason` (why a text was rejected). An empty text has one empty variant of probability 1 and no tokens. For
            one text, its list of variants alone.

        Raises:
            TypeError: `sentences` is not a text or a sequence of texts.
            ConfigError: Unknown decoding, or a value of it is out of range, or not as many prefixes as texts.
            DataError: A text is longer than the model takes, and `long` is 'error'.

        Example:
            >>> translator = Translator.load("de-en")
            >>> variants = translator.translate(["Guten Morgen", "Ich bin müde."], decode="beam:12,nbest=3")
            >>> [len(group) for group in variants], variants[1][0].text
            ([3, 3], "I'm tired.")
            >>> [variant.text for variant in translator.translate("Guten Morgen")]
            ['Good morning']
        """
        if isinstance(sentences, str):
            return self.translate([sentences], decode=decode, seed=seed, batch_tokens=batch_tokens, prefixes=prefixes)[
                0
            ]
        decoding = self.decoding if decode is None else as_decoding(decode)
        texts: list[str] = normalize(list_of_strings(sentences)).to_pylist()
        beginnings = self._beginnings(prefixes, len(texts))
        parts = self._long_texts.parts(texts, self.long)
        if parts is None:
            variants = self._decoded(texts, beginnings, decoding, seed, batch_tokens)
        else:
            rows = [row for row, of_text in enumerate(parts) for _ in of_text]
            flat = [part for of_text in parts for part in of_text]
            decoded = iter(self._decoded(flat, [beginnings[row] for row in rows], decoding, seed, batch_tokens))
            variants = [self._long_texts.join(list(islice(decoded, len(of_text)))) for of_text in parts]
        self.observe(decoding, texts, variants)
        return variants

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        """The parts that texts are translated in, where they are longer than the model takes.

        Args:
            sentences: n texts.
            reserve: Subwords of a source that are for something else than the text.

        Returns:
            For each text its parts: sentences, or parts of sentences; the normalized text alone if the model takes it.

        Example:
            >>> [len(parts) for parts in Translator.load("de-en").split(["Guten Morgen.", "Guten Morgen. " * 100])]
            [1, 100]
        """
        texts: list[str] = normalize(list_of_strings(sentences)).to_pylist()
        return [self._long_texts.split(text, reserve) for text in texts]

    def _beginnings(self, prefixes: Sequence[str] | None, count: int) -> list[list[str]]:
        """The tokens that each translation begins with."""
        if prefixes is None:
            return [list(self._codec.prefix)] * count
        if isinstance(prefixes, str) or len(prefixes) != count:
            given = 1 if isinstance(prefixes, str) else len(prefixes)
            raise ConfigError(f"expected {count} prefixes, one for each text, got {given}")
        rows = self._codec.encode_target(normalize(list_of_strings(prefixes)).to_pylist())
        return [[*self._codec.prefix, *row] for row in rows]

    def _decoded(
        self,
        texts: Sequence[str],
        beginnings: Sequence[list[str]],
        decoding: Decoding,
        seed: int,
        batch_tokens: int | None,
    ) -> list[list[Variant]]:
        """The variants of normalized texts that the model takes."""
        if decoding.proposal is not None:
            return choose(
                decoding,
                lambda drawn: self._decoded(texts, beginnings, drawn, seed, batch_tokens),
                texts,
                (self.source, self.target),
            )
        options = self.engine_options(decoding)
        if batch_tokens is not None:
            options["max_batch_size"] = batch_tokens
        return self._decoder.decode(texts, beginnings, decoding, options, seed)

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

        A pair with a side that is longer than the model takes has no log-probability, but NaN.

        Example:
            >>> [(good, _), (bad, _)] = Translator.load("de-en").score(["Hallo."] * 2, ["Hello.", "Goodbye."])
            >>> good > bad
            True
        """
        return self._decoder.score(
            normalize(list_of_strings(sources)).to_pylist(), normalize(list_of_strings(targets)).to_pylist()
        )

    def score_prefixes(self, sources: Sequence[str], prefixes: Sequence[str]) -> list[float]:
        """Log-probabilities that translations begin with given text.

        Args:
            sources: Sentences, n.
            prefixes: The beginning of each translation.

        Returns:
            n log-probabilities (natural logarithms, sums over the tokens of the beginning); NaN where a side is longer
            than the model takes.

        Raises:
            TypeError: An argument is not a sequence of texts.

        Example:
            >>> good, bad = Translator.load("de-en").score_prefixes(["Guten Morgen!"] * 2, ["Good", "Bad"])
            >>> good > bad
            True
        """
        given = [normalize(list_of_strings(texts)).to_pylist() for texts in (sources, prefixes)]
        return self._decoder.score_prefixes(*given)

    def engine_options(self, decode: str | Decoding | None = None) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch for a decoding, batching included.

        Args:
            decode: A decoding, or its text; None takes the default of the translator.

        Returns:
            Name of each argument and its value.

        Raises:
            ModelError: The decoding needs a shortlist, and the model has none.
        """
        return self._decoder.options(self.decoding if decode is None else as_decoding(decode))

    def observe(self, decoding: Decoding, texts: Sequence[str], variants: Sequence[Sequence[Variant]]) -> None:
        """Compare costs with those of the development text, and warn, once, if they are far higher.

        Args:
            decoding: How the texts were decoded. Like is compared with like, so samples are not what is compared.
            texts: Texts.
            variants: Their variants.
        """
        if self._monitor is None:
            return
        if not decoding.random:
            self._monitor.add(variants)
            return
        filled = [text for text in texts if text.strip()]
        if size := self._monitor.sample_size(len(filled)):
            plain = self.with_decoding(COST_DECODING)
            plain._monitor = None
            self._monitor.add(plain.translate(filled[:size]))
