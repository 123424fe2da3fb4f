"""Parsing: a grammar read off a treebank, and what a bracketed tree says of a sentence."""
