"""Parsing: a grammar learned from a treebank, other parsers, root productions and syntax groups."""
