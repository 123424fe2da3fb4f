"""Scores of sentence pairs, with and without models."""
