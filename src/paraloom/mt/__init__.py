"""Translators: sub-words, training from scratch, decoding, loading."""

from paraloom.mt.decoding import Beam, Decoding, Nucleus, Sampling, TopK, parse_decoding
from paraloom.mt.loading import load_translator
from paraloom.mt.translator import CTranslate2Translator, translate_stream

__all__ = [
    "Beam",
    "CTranslate2Translator",
    "Decoding",
    "Nucleus",
    "Sampling",
    "TopK",
    "load_translator",
    "parse_decoding",
    "translate_stream",
]
