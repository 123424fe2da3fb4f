"""Paraphrases on demand: templates of syntax, training examples, and decoding that follows a template."""
