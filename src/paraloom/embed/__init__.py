"""Sentence encoders: vocabulary, training with mega-batches, storage."""
