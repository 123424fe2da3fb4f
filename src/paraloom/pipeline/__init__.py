"""Pipelines as shards' counts and digests, on this machine or on a cluster."""
