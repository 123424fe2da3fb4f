"""Back-translation methods by the names of BBH22: a decoding, and how many translators and how much text it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from paraloom.core.errors import ConfigError, nearest
from paraloom.mt.decoding import Beam, Decoding, Diverse, Mbr, Nucleus, Sampling, TopK


@dataclass(frozen=True)
class Method:
    """A method of making back-translations."""

    name: str
    decoding: Decoding
    translators: int = 1
    texts: int = 1

    @property
    def outputs(self) -> int:
        """Translations of each sentence, by all translators together."""
        return self.decoding.nbest * self.translators


_BASE = Beam(5, 1, 0.0)

METHODS: dict[str, Callable[[int], Method]] = {
    "base": lambda n: Method("base", _BASE),
    "base-big": lambda n: Method("base-big", _BASE, texts=n),
    "beam": lambda n: Method("beam", Beam(max(5, n), n, 0.0)),
    "sampling": lambda n: Method("sampling", Sampling(n)),
    "nucleus": lambda n: Method("nucleus", Nucleus(0.95, n)),
    "topk": lambda n: Method("topk", TopK(10, n)),
    "temperature": lambda n: Method("temperature", Sampling(n, 0.7)),
    "mbr": lambda n: Method("mbr", Mbr(samples=max(16, n), nbest=n)),
    "diverse": lambda n: Method("diverse", Diverse(samples=max(32, n), nbest=n)),
    "syntax": lambda n: Method("syntax", _BASE, translators=n),
}
"""Name → the method for a number of outputs. topk, temperature, mbr and diverse are not in BBH22."""


def method(name: str, outputs: int = 3, *, fairseq: bool = False) -> Method:
    """Look up a back-translation method.

    - base: one translation, by a beam of 5 without length penalty.
    - base-big: the same, of `outputs` times as much text.
    - beam: the `outputs` best of a beam of 5 (or of `outputs`, if that is more).
    - sampling, nucleus (p = 0.95), topk (k = 10), temperature (0.7): `outputs` samples.
    - mbr: of 16 samples (or of `outputs`, if that is more) the `outputs` that are most like all of them; fewer where
      the samples have fewer distinct texts.
    - diverse: of 32 samples (or of `outputs`, if that is more) the `outputs` that are good and unlike each other.
    - syntax: one translation by each of `outputs` translators, each fine-tuned on one syntax group.

    "Beam size of five and no length penalty" can be read in two ways, and BBH22 used fairseq: there, without another
    length penalty, hypotheses compete by their mean over tokens, and a beam of five for samples is five samples, of
    which the three likeliest are kept. See BBH22 §2.1.
    """
    if name not in METHODS:
        raise ConfigError(f"unknown method '{name}'{nearest(name, list(METHODS))}")
    if outputs < 1:
        raise ConfigError(f"'outputs' must be at least 1, got {outputs}")
    preset = METHODS[name](outputs)
    return replace(preset, decoding=_of_fairseq(preset.decoding)) if fairseq else preset


def _of_fairseq(decoding: Decoding) -> Decoding:
    if isinstance(decoding, Beam):
        return replace(decoding, length_penalty=1.0)
    if isinstance(decoding, (Sampling, TopK, Nucleus)):
        return replace(decoding, samples=max(5, decoding.nbest))
    return decoding
