"""Encoder–decoders with LSTMs, as the papers of paraphrase generation have them: networks, training, decoding."""
