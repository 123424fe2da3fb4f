"""Reading and writing: corpora of Parquet shards, and bitext in the formats of the field."""

from paraloom.core.io.corpus import Corpus, seal_corpus, write_corpus
from paraloom.core.io.shards import read_batches, read_shard, write_shard

__all__ = ["Corpus", "read_batches", "read_shard", "seal_corpus", "write_corpus", "write_shard"]
