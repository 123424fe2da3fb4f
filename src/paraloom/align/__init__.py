"""Comparable documents to bitext: sentences aligned n to m by length, translations and a lexicon found on the way."""
