"""Reads and writes corpora of Parquet shards, and bitext in the formats of the field."""

from paraloom.io.bitext import read_pairs, write_pairs, write_table
from paraloom.io.compression import open_read, open_write, read_lines
from paraloom.io.corpus import Corpus, seal_corpus, write_corpus
from paraloom.io.shards import read_batches, read_shard, write_shard

__all__ = [
    "Corpus",
    "open_read",
    "open_write",
    "read_batches",
    "read_lines",
    "read_pairs",
    "read_shard",
    "seal_corpus",
    "write_corpus",
    "write_pairs",
    "write_shard",
    "write_table",
]
