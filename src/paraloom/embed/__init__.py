"""Sentence and phrase encoders: vocabularies, networks, training, distillation, search and export."""
