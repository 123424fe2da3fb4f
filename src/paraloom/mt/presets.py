"""Ways to back-translate for diversity, by the names that BBH22 gives them: each a decoding, and what else it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraloom.core.errors import ConfigError, nearest
from paraloom.mt.decoding import Beam, Decoding, Nucleus, Sampling, TopK


@dataclass(frozen=True)
class Method:
    """How one dataset of BBH22's is made.

    decoding: of each translator.  translators: how many translate the same text.  texts: how many times as much text
    the method takes as the others do.
    """

    name: str
    decoding: Decoding
    translators: int = 1
    texts: int = 1

    @property
    def outputs(self) -> int:
        """Translations of each sentence, all translators together."""
        return self.decoding.nbest * self.translators


METHODS: dict[str, Callable[[int], Method]] = {
    "base": lambda n: Method("base", _base()),
    "base-big": lambda n: Method("base-big", _base(), texts=n),
    "beam": lambda n: Method("beam", Beam(max(5, n), n, 0.0)),
    "sampling": lambda n: Method("sampling", Sampling(n)),
    "nucleus": lambda n: Method("nucleus", Nucleus(0.95, n)),
    "topk": lambda n: Method("topk", TopK(10, n)),
    "temperature": lambda n: Method("temperature", Sampling(n, 0.7)),
    "syntax": lambda n: Method("syntax", _base(), translators=n),
}
"""Name → the method for so many outputs; a new one is a line here.  topk and temperature are not BBH22's."""


def method(name: str, outputs: int = 3) -> Method:
    """A method by name (BBH22 §2.1), for `outputs` translations of each sentence, or as many times the text.

    base: one translation by a beam of 5, no length penalty.  base-big: the same of `outputs` times the text.  beam: the
    `outputs` best of a beam of 5.  sampling, nucleus (p = 0.95), topk (10), temperature (0.7): as many draws.  syntax:
    as many translators, each tuned to one group of sentence structures, one output each.
    BBH22 draw five samples of each sentence and keep three; here `outputs` are drawn and all kept.
    A decoding of one's own is given to `parse_decoding`, whose names beam and sampling mean one output.
    Raises ConfigError for an unknown name, or fewer than one output.

    >>> method("nucleus").decoding
    Nucleus(p=0.95, nbest=3, temperature=1.0, within=0, shortlist=0)
    >>> method("syntax").translators, method("base-big").texts, method("base").outputs
    (3, 3, 1)
    """
    if name not in METHODS:
        raise ConfigError(f"there is no method '{name}'{nearest(name, list(METHODS))}")
    if outputs < 1:
        raise ConfigError(f"a method has one output or more, not {outputs}")
    return METHODS[name](outputs)


def _base() -> Beam:
    return Beam(5, 1, 0.0)
