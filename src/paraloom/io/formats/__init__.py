"""Readers and writers of the file formats of bitext and alignments, one file per format."""
