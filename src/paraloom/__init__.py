"""Paraloom weaves parallel text into paraphrases, sentence embeddings and training data for translators."""

__version__ = "0.1.0"
