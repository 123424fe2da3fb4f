"""Figures with signatures: semantic similarity tasks and translation quality."""
