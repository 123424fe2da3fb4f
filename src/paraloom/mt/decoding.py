"""How a translator chooses its words: beam search, sampling, top-k, nucleus, as plain values.

All of them have `shortlist`: 1 scores only the words that the source's words may come to (see mt.shortlist; W17 §3.1),
which decodes small models two to four times faster; other words cannot be chosen, so it is another distribution, and
part of the signature.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from paraloom.core.errors import ConfigError, nearest


@dataclass(frozen=True)
class Beam:
    """Beam search: the `nbest` likeliest translations that a beam of `size` finds, best first.

    length_penalty: hypotheses compete by logprob / tokens ** length_penalty; 0 is plain probability (BBH22), 1 the
    mean over tokens.  Use size 5 for one good translation, 12 as PNMT, 50 with nbest 50 as W17.
    """

    size: int = 5
    nbest: int = 1
    length_penalty: float = 1.0
    shortlist: int = 0
    random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require(self.size >= 1, "a beam's size is 1 or more", self)
        _require(1 <= self.nbest <= self.size, "a beam's nbest lies between 1 and its size", self)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch."""
        bounds = {"beam_size": self.size, "num_hypotheses": self.nbest, "length_penalty": self.length_penalty}
        return bounds | _listed(self.shortlist)


@dataclass(frozen=True)
class Sampling:
    """Pure (ancestral) sampling from the whole distribution: `nbest` independent draws, in no order of quality.

    temperature: logits are divided by it; below 1 is sharper.
    """

    nbest: int = 1
    temperature: float = 1.0
    shortlist: int = 0
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(self.nbest >= 1, "nbest is 1 or more", self)
        _require(self.temperature > 0, "temperature is above 0", self)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch."""
        return _draws(self.nbest, self.temperature, self.shortlist, sampling_topk=0)


@dataclass(frozen=True)
class TopK:
    """Sampling among the k likeliest tokens at each step."""

    k: int = 10
    nbest: int = 1
    temperature: float = 1.0
    shortlist: int = 0
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(self.k >= 2, "k is 2 or more (1 would be greedy: beam:1)", self)
        _require(self.nbest >= 1, "nbest is 1 or more", self)
        _require(self.temperature > 0, "temperature is above 0", self)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch."""
        return _draws(self.nbest, self.temperature, self.shortlist, sampling_topk=self.k)


@dataclass(frozen=True)
class Nucleus:
    """Sampling among the fewest tokens whose probabilities sum to p or more (Holtzman et al. 2020; BBH22 use 0.95).

    within: only the `within` likeliest tokens are sorted and considered, 0 = all of them.  A bound of 50 decodes
    several times faster and is a slightly other distribution, so it is part of the signature.
    """

    p: float = 0.95
    nbest: int = 1
    temperature: float = 1.0
    within: int = 0
    shortlist: int = 0
    random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require(0 < self.p <= 1, "a nucleus holds a share above 0 and up to 1", self)
        _require(self.nbest >= 1, "nbest is 1 or more", self)
        _require(self.temperature > 0, "temperature is above 0", self)
        _require(self.within >= 0 and self.within != 1, "within is 0 (all tokens) or 2 and more", self)

    def options(self) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch."""
        return _draws(self.nbest, self.temperature, self.shortlist, sampling_topk=self.within, sampling_topp=self.p)


Decoding: TypeAlias = Beam | Sampling | TopK | Nucleus

DECODINGS: dict[str, tuple[type[Any], str | None]] = {
    "beam": (Beam, "size"),
    "sampling": (Sampling, None),
    "topk": (TopK, "k"),
    "nucleus": (Nucleus, "p"),
}
"""Name on the command line → class and the field that a bare value sets."""


def parse_decoding(text: str) -> Decoding:
    """Read `NAME[:VALUE][,FIELD=VALUE…]`, the form of `--decode` and of a pipeline's `decode`.

    Raises ConfigError for an unknown name or field and for values out of range.

    >>> parse_decoding("beam:12,nbest=3")
    Beam(size=12, nbest=3, length_penalty=1.0, shortlist=0)
    >>> parse_decoding("nucleus:0.95,nbest=3")
    Nucleus(p=0.95, nbest=3, temperature=1.0, within=0, shortlist=0)
    >>> parse_decoding("greedy")
    Beam(size=1, nbest=1, length_penalty=1.0, shortlist=0)
    """
    head, *settings = text.strip().split(",")
    name, _, value = head.partition(":")
    if name == "greedy" and not value:
        name, value = "beam", "1"
    if name not in DECODINGS:
        raise ConfigError(f"unknown decoding '{name}'{nearest(name, ['greedy', *DECODINGS])}")
    kind, bare = DECODINGS[name]
    if value:
        if bare is None:
            raise ConfigError(f"'{name}' takes no value after the colon", remedy=f"Write {name} or {name},nbest=3.")
        settings.insert(0, f"{bare}={value}")
    types = {f.name: float if "float" in str(f.type) else int for f in fields(kind)}
    chosen: dict[str, float] = {}
    for setting in settings:
        key, _, number = setting.partition("=")
        if key not in types:
            raise ConfigError(f"decoding '{name}' has no setting '{key}'{nearest(key, list(types))}")
        try:
            chosen[key] = types[key](number)
        except ValueError:
            raise ConfigError(f"decoding setting '{setting}' is not a number of type {types[key].__name__}") from None
    decoding: Decoding = kind(**chosen)
    return decoding


def describe_decoding(decoding: Decoding) -> str:
    """The text that parse_decoding reads back, every field spelled out; used as `method` and in signatures.

    >>> describe_decoding(Beam(12))
    'beam:12,nbest=1,length_penalty=1.0,shortlist=0'
    """
    name, bare = next((name, bare) for name, (kind, bare) in DECODINGS.items() if type(decoding) is kind)
    head = f"{name}:{getattr(decoding, bare)}" if bare else name
    return ",".join([head, *(f"{f.name}={getattr(decoding, f.name)}" for f in fields(decoding) if f.name != bare)])


def _draws(count: int, temperature: float, shortlist: int, **bounds: float) -> dict[str, Any]:
    # length_penalty 0: the scores of samples are then plain log-probabilities.
    return {
        "beam_size": 1,
        "num_hypotheses": count,
        "sampling_temperature": temperature,
        "length_penalty": 0,
        **bounds,
        **_listed(shortlist),
    }


def _listed(shortlist: int) -> dict[str, Any]:
    if shortlist not in (0, 1):
        raise ConfigError(f"shortlist is 0 or 1, not {shortlist}")
    return {"use_vmap": True} if shortlist else {}


def _require(condition: bool, what: str, decoding: object) -> None:
    if not condition:
        raise ConfigError(f"{what}; this is {decoding}")
