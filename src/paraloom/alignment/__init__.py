"""Alignment of comparable documents and of their sentences, n to m: documents to bitext."""
