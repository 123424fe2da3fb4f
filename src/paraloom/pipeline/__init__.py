"""Pipelines as shards, books and digests, on this machine or on a cluster."""
