"""Text as numbers: normalization, tokens, n-grams, BLEU, chrF and word alignment."""
