"""Decoding strategies of a translator, as plain values: beam search, kinds of sampling, choices among samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeAlias, cast

from paraloom.core.errors import ConfigError, nearest, suggestion
from paraloom.mt.utility import parse_utility
from paraloom.text.utility import UTILITIES


@dataclass(frozen=True)
class Beam:
    """Beam search: the `nbest` most likely translations that a beam finds, best first.

    A size of 5 gives one good translation; PNMT uses 12, W17 a size and nbest of 50.

    Args:
        size: Hypotheses of the beam, 1 or more; 1 is greedy decoding.
        nbest: Translations per sentence, from 1 to `size`.
        length_penalty: Hypotheses compete by logprob / tokens ** length_penalty: 0 is plain probability (BBH22), 1 the
            mean over tokens.
        shortlist: 1 scores only the subwords that those of the source may translate to (`paraloom.mt.shortlist`; W17
            §3.1), which decodes small models two to four times faster. Other subwords cannot be chosen, so it is
            another distribution, and part of the signature.
        utility: Choose the `nbest` of all hypotheses of the beam by a sum of scores, as 'reverse+chrf'; see `Mbr`.
        reverse: The translator of the score 'reverse'; see `Mbr`.

    Raises:
        ConfigError: A value is out of range, or a score is unknown.

    Example:
        >>> Beam(12, nbest=3).options()
        {'beam_size': 12, 'num_hypotheses': 3, 'length_penalty': 1.0}
    """

    size: int = 5
    nbest: int = 1
    length_penalty: float = 1.0
    shortlist: int = 0
    utility: str = ""
    reverse: str = ""
    random: ClassVar[bool] = False

    @property
    def proposal(self) -> Beam | None:
        """The beam whose hypotheses are chosen from by a utility; None without one."""
        return replace(self, nbest=self.size, utility="", reverse="") if self.utility else None

    def __post_init__(self) -> None:
        if self.utility:
            parse_utility(self.utility)
        _require(self.size >= 1, "size must be at least 1", self)
        _require(1 <= self.nbest <= self.size, "nbest must be between 1 and the size of the beam", self)

    def options(self) -> dict[str, float]:
        beam = {"beam_size": self.size, "num_hypotheses": self.nbest, "length_penalty": self.length_penalty}
        return beam | _shortlist_options(self.shortlist)


class _Samples:
    """Independent samples, of which the likeliest may be chosen."""

    nbest: int
    temperature: float
    samples: int
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        decoding = cast(Decoding, self)
        _require(self.nbest >= 1, "nbest must be at least 1", decoding)
        _require(self.samples == 0 or self.samples >= self.nbest, "samples must be 0 or at least nbest", decoding)
        _require(self.temperature > 0, "temperature must be above 0", decoding)

    @property
    def proposal(self) -> Self | None:
        """The decoding that draws the samples to choose from; None where all are kept."""
        drawn: Any = self
        return replace(drawn, nbest=self.samples, samples=0) if self.samples > self.nbest else None


class _ChoiceOfSamples:
    """A choice among samples of `Nucleus` sampling."""

    samples: int
    nbest: int
    p: float
    temperature: float
    within: int
    shortlist: int
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        decoding = cast(Decoding, self)
        _require(self.samples >= 2, "samples must be at least 2", decoding)
        _require(1 <= self.nbest <= self.samples, "nbest must be between 1 and the number of samples", decoding)
        self.options()

    @property
    def proposal(self) -> Nucleus:
        """The decoding that draws the samples."""
        return Nucleus(self.p, self.samples, self.temperature, self.within, self.shortlist)

    def options(self) -> dict[str, float]:
        """Keyword arguments of ctranslate2's translate_batch that draw the samples."""
        return self.proposal.options()


@dataclass(frozen=True)
class Sampling(_Samples):
    """Ancestral sampling from the whole distribution: `nbest` independent samples, not sorted by quality.

    Args:
        nbest: Samples per sentence, 1 or more.
        temperature: The logits are divided by it; below 1 is sharper.
        shortlist: See `Beam`.
        samples: Samples that are drawn, of which the `nbest` most likely ones are kept, likeliest first, as fairseq
            does with a beam of so many (BBH22: five, of which three); 0 draws `nbest`, which are all kept.
        length_penalty: With `samples`, the likeliest have the highest logprob / tokens ** length_penalty; 1 is
            fairseq's default, 0 plain probability.

    Raises:
        ConfigError: A value is out of range.

    Example:
        >>> Sampling(nbest=3).options()["num_hypotheses"]
        3
    """

    nbest: int = 1
    temperature: float = 1.0
    shortlist: int = 0
    samples: int = 0
    length_penalty: float = 1.0

    def options(self) -> dict[str, float]:
        return _sampling_options(self.nbest, self.temperature, self.shortlist, sampling_topk=0)


@dataclass(frozen=True)
class TopK(_Samples):
    """Sampling from the k most likely tokens at each step.

    Args:
        k: Tokens to choose from, 2 or more.
        nbest: Samples per sentence, 1 or more.
        temperature: The logits are divided by it; below 1 is sharper.
        shortlist: See `Beam`.
        samples, length_penalty: See `Sampling`.

    Raises:
        ConfigError: A value is out of range.

    Reference:
        Fan et al. 2018, "Hierarchical neural story generation".

    Example:
        >>> TopK(10).options()["sampling_topk"]
        10
    """

    k: int = 10
    nbest: int = 1
    temperature: float = 1.0
    shortlist: int = 0
    samples: int = 0
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        _require(self.k >= 2, "k must be at least 2 (for greedy decoding write beam:1)", self)
        super().__post_init__()

    def options(self) -> dict[str, float]:
        return _sampling_options(self.nbest, self.temperature, self.shortlist, sampling_topk=self.k)


@dataclass(frozen=True)
class Nucleus(_Samples):
    """Nucleus sampling: from the smallest set of tokens whose probabilities sum to p or more.

    Args:
        p: Probability of the nucleus, above 0 and at most 1 (BBH22 use 0.95).
        nbest: Samples per sentence, 1 or more.
        temperature: The logits are divided by it; below 1 is sharper.
        within: Consider only this many of the most likely tokens; 0 considers all. A limit of 50 decodes several times
            faster from a slightly different distribution, so it is part of the signature.
        shortlist: See `Beam`.
        samples, length_penalty: See `Sampling`.

    Raises:
        ConfigError: A value is out of range.

    Reference:
        Holtzman et al. 2020, "The curious case of neural text degeneration".

    Example:
        >>> Nucleus(0.95, nbest=3).options()["sampling_topp"]
        0.95
    """

    p: float = 0.95
    nbest: int = 1
    temperature: float = 1.0
    within: int = 0
    shortlist: int = 0
    samples: int = 0
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        _require(0 < self.p <= 1, "p must be above 0 and at most 1", self)
        super().__post_init__()
        _require(self.within >= 0 and self.within != 1, "within must be 0 (all tokens) or at least 2", self)

    def options(self) -> dict[str, float]:
        return _sampling_options(
            self.nbest, self.temperature, self.shortlist, sampling_topk=self.within, sampling_topp=self.p
        )


@dataclass(frozen=True)
class Mbr(_ChoiceOfSamples):
    """Of several samples the `nbest` with the highest utility, best first; by default, minimum Bayes risk.

    The utility is a sum of named scores: 'chrf' or 'bleu', the mean score of a candidate against all samples, itself
    included (minimum Bayes risk); 'forward', its probability per subword; 'reverse', that of the source, given the
    candidate, by a translator the other way; 'comet:FOLDER', 'metricx:FOLDER' and 'cross-encoder:FOLDER', a model that
    reads source and candidate. The logarithms of each score are standardized over the candidates of a sentence, to a
    mean of 0 and a standard deviation of 1, and added.

    Args:
        utility: One score, or several as 'forward+reverse+chrf'.
        samples: Samples per sentence, 2 or more: the candidates, without repetitions, and what they are compared with.
        nbest: Translations per sentence, from 1 to `samples`; fewer where the samples have fewer distinct texts.
        p: Samples are drawn by `Nucleus` sampling with this p; 1 draws from the whole distribution.
        temperature: Temperature of sampling; see `Nucleus`.
        within: Limit of sampling; see `Nucleus`.
        beam: Size of a beam whose best translation is one more candidate, but not compared with; 0 for none.
        shortlist: See `Beam`.
        reverse: The translator of 'reverse': a name or a folder. Default: the bundled one for the other direction.

    Raises:
        ConfigError: A value is out of range, or a score is unknown.

    Reference:
        Kumar and Byrne 2004, "Minimum Bayes-risk decoding for statistical machine translation"; Eikema and Aziz 2020,
        "Is MAP decoding all you need?"; Freitag et al. 2023, "Epsilon sampling rocks" (samples of truncated
        distributions).

    Example:
        >>> Mbr("forward+reverse+chrf", samples=64, beam=5, within=50).proposal.nbest
        64
    """

    utility: str = "chrf"
    samples: int = 16
    nbest: int = 1
    p: float = 0.9
    temperature: float = 1.0
    within: int = 0
    beam: int = 0
    shortlist: int = 0
    reverse: str = ""

    def __post_init__(self) -> None:
        parse_utility(self.utility)
        _require(self.beam >= 0, "beam must be 0 (no beam) or the size of one", self)
        super().__post_init__()

    @property
    def further(self) -> Beam | None:
        """The decoding of one more candidate; None for none."""
        return Beam(self.beam, shortlist=self.shortlist) if self.beam else None


@dataclass(frozen=True)
class Diverse(_ChoiceOfSamples):
    """Of many samples, `nbest` that are adequate and unlike each other, chosen one after the other.

    Each choice has the highest quality ** weight × dissimilarity ** (1 - weight) of the distinct samples. Dissimilarity
    is 1 minus the highest chrF to those that are chosen already (`paraloom.mt.choice`), and 1 for the first choice,
    which is the sample of the highest quality.

    Args:
        metric: What the dissimilarity is measured by: 'chrf' or 'bleu'.
        samples: Samples per sentence, 2 or more.
        nbest: Translations per sentence, from 1 to `samples`; fewer where the samples have fewer distinct texts.
        weight: Weight of the quality, 0 to 1: 1 takes the best, 0 those that are least alike.
        utility: The quality: the product of scores from 0 to 1, which are those of `Mbr`.
        p: Samples are drawn by `Nucleus` sampling with this p.
        temperature: Temperature of sampling; see `Nucleus`.
        within: Limit of sampling; see `Nucleus`.
        shortlist: See `Beam`.
        reverse: See `Mbr`.

    Raises:
        ConfigError: A value is out of range, or the metric or a score is unknown.

    Reference:
        Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking" (the greedy choice); BBH22 §2.1 (what
        the variants are for).

    Example:
        >>> Diverse(samples=32, nbest=3).proposal.nbest
        32
    """

    metric: str = "chrf"
    samples: int = 32
    nbest: int = 3
    weight: float = 0.5
    utility: str = "forward+chrf"
    p: float = 0.95
    temperature: float = 1.0
    within: int = 0
    shortlist: int = 0
    reverse: str = ""

    def __post_init__(self) -> None:
        parse_utility(self.utility)
        if self.metric not in UTILITIES:
            raise ConfigError(
                f"unknown metric '{self.metric}' of decoding 'diverse'{suggestion(self.metric, UTILITIES)}",
                remedy=f"Metrics: {', '.join(UTILITIES)}.",
            )
        _require(0 <= self.weight <= 1, "weight must be between 0 and 1", self)
        super().__post_init__()


Decoding: TypeAlias = Beam | Sampling | TopK | Nucleus | Mbr | Diverse

DECODINGS: dict[str, tuple[type[Any], str | None]] = {
    "beam": (Beam, "size"),
    "sampling": (Sampling, None),
    "topk": (TopK, "k"),
    "nucleus": (Nucleus, "p"),
    "mbr": (Mbr, "utility"),
    "diverse": (Diverse, "metric"),
}
"""Name → class, and the field that a value after the colon sets."""

_TYPES: dict[str, Callable[[str], int | float | str]] = {"int": int, "float": float, "str": str}


def parse_decoding(text: str) -> Decoding:
    """Read a decoding such as `beam:12,nbest=3`, the form of `--decode` and of a stage's `decode`."""
    head, *settings = text.strip().split(",")
    name, _, value = head.partition(":")
    if name == "greedy" and not value:
        name, value = "beam", "1"
    if name not in DECODINGS:
        raise ConfigError(f"unknown decoding '{name}'{nearest(name, ['greedy', *DECODINGS])}")
    kind, main_field = DECODINGS[name]
    if value:
        if main_field is None:
            raise ConfigError(f"'{name}' takes no value after the colon", remedy=f"Write {name} or {name},nbest=3.")
        settings.insert(0, f"{main_field}={value}")
    types = {f.name: _TYPES[str(f.type)] for f in fields(kind)}
    values: dict[str, int | float | str] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        if key == "quality" and kind is Diverse:
            raise ConfigError(
                "setting 'quality' of 'diverse' is called 'utility' now",
                remedy="Write utility=forward for probability, chrf for utility, forward+chrf for both.",
            )
        if key not in types:
            raise ConfigError(f"unknown setting '{key}' of decoding '{name}'{nearest(key, list(types))}")
        try:
            values[key] = types[key](text)
        except ValueError:
            wanted = "a whole number" if types[key] is int else "a number"
            raise ConfigError(f"decoding setting '{key}': expected {wanted}, got '{text}'") from None
    decoding: Decoding = kind(**values)
    return decoding


def as_decoding(decode: str | Decoding) -> Decoding:
    """A decoding as it is, or the one that a text describes."""
    if isinstance(decode, str):
        return parse_decoding(decode)
    if isinstance(decode, Decoding):
        return decode
    raise TypeError(f"'decode' must be text such as 'beam:5', or a Decoding, got {type(decode).__name__}")


def describe_decoding(decoding: Decoding) -> str:
    """Write a decoding with all its fields, as `parse_decoding` reads it, but for choices without an effect."""
    name, main_field = next((name, field) for name, (kind, field) in DECODINGS.items() if type(decoding) is kind)
    head = f"{name}:{getattr(decoding, main_field)}" if main_field else name
    kept = isinstance(decoding, _Samples) and not decoding.samples
    left_out = {main_field, *(("samples", "length_penalty") if kept else ())}
    left_out |= {name for name in ("utility", "reverse") if getattr(decoding, name, None) == ""}
    rest = (f"{f.name}={getattr(decoding, f.name)}" for f in fields(decoding) if f.name not in left_out)
    return ",".join([head, *rest])


def _sampling_options(nbest: int, temperature: float, shortlist: int, **limits: float) -> dict[str, float]:
    # With length_penalty 0 the scores of samples are plain log-probabilities.
    return {
        "beam_size": 1,
        "num_hypotheses": nbest,
        "sampling_temperature": temperature,
        "length_penalty": 0,
        **limits,
        **_shortlist_options(shortlist),
    }


def _shortlist_options(shortlist: int) -> dict[str, float]:
    if shortlist not in (0, 1):
        raise ConfigError(f"shortlist must be 0 or 1, got {shortlist}")
    return {"use_vmap": True} if shortlist else {}


def _require(condition: bool, requirement: str, decoding: Decoding) -> None:
    if not condition:
        raise ConfigError(f"{requirement}, got '{describe_decoding(decoding)}'")
