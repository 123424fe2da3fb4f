"""PARK17: Park et al. (2017): sentence and document alignment, self-training, and the phrase-based translator."""
