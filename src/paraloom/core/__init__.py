"""What every other package builds on: errors, schemas, stages, protocols, seeds, digests, progress and statistics."""
