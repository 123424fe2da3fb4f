"""Foundations of every other package: errors, schemas, stages, protocols, seeds, digests, progress and statistics."""
