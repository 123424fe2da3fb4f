"""Diversity of text: lexical and syntactic diversity of variants, their adequacy, and statistics of corpora."""
