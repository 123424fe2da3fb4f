"""Evaluation of encoders, translators and aligners: results with signatures and confidence intervals."""
