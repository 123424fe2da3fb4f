"""Parsing: a grammar read off a treebank, other parsers, and what a bracketed tree says of a sentence."""
