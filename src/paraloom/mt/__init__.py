"""Translators: sub-words, training from scratch, decoding, loading."""
