"""Text as data: normalization, tokens, n-grams, BLEU, chrF, sentences, languages, word alignment."""
