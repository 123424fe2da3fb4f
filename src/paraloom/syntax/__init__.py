"""Parsing: treebanks, the span parser, and the trees of other parsers."""
