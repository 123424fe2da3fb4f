"""Pipelines: sharded, resumable, with row counts and digests, on this machine or on a cluster."""
