"""Reads and writes corpora of Parquet shards, and bitext in the formats of the field."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.io.bitext import read_pairs as read_pairs
    from paraloom.io.bitext import write_pairs as write_pairs
    from paraloom.io.bitext import write_table as write_table
    from paraloom.io.compression import open_read as open_read
    from paraloom.io.compression import open_write as open_write
    from paraloom.io.compression import read_lines as read_lines
    from paraloom.io.corpus import Corpus as Corpus
    from paraloom.io.corpus import seal_corpus as seal_corpus
    from paraloom.io.corpus import write_corpus as write_corpus
    from paraloom.io.shards import read_batches as read_batches
    from paraloom.io.shards import read_shard as read_shard
    from paraloom.io.shards import write_shard as write_shard

__getattr__, __dir__, __all__ = lazy_exports(__name__)
