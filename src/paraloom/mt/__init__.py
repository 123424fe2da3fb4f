"""Machine translation: training on a few cores, decoding, and loading of models."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.mt.config import TranslatorConfig as TranslatorConfig
    from paraloom.mt.decoding import Beam as Beam
    from paraloom.mt.decoding import Decoding as Decoding
    from paraloom.mt.decoding import Diverse as Diverse
    from paraloom.mt.decoding import Mbr as Mbr
    from paraloom.mt.decoding import Nucleus as Nucleus
    from paraloom.mt.decoding import Sampling as Sampling
    from paraloom.mt.decoding import TopK as TopK
    from paraloom.mt.decoding import parse_decoding as parse_decoding
    from paraloom.mt.streams import best_translations as best_translations
    from paraloom.mt.streams import translate_stream as translate_stream
    from paraloom.mt.translator import Translator as Translator

__getattr__, __dir__, __all__ = lazy_exports(__name__)
