"""Machine translation: training on a few cores, decoding, and loading of models."""

from paraloom.mt.config import TranslatorConfig
from paraloom.mt.decoding import Beam, Decoding, Diverse, Mbr, Nucleus, Sampling, TopK, parse_decoding
from paraloom.mt.streams import best_translations, translate_stream
from paraloom.mt.translator import Translator

__all__ = [
    "Beam",
    "Decoding",
    "Diverse",
    "Mbr",
    "Nucleus",
    "Sampling",
    "TopK",
    "Translator",
    "TranslatorConfig",
    "best_translations",
    "parse_decoding",
    "translate_stream",
]
