"""Selecting pairs: conditions, quantiles, samples, near-duplicates, cleaning."""
