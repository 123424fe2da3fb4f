"""File formats of bitext, alignments and paraphrase resources."""
