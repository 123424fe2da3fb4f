"""A judge of meaning: labeled pairs made of text, a small cross-encoder, its training and its export."""
