"""How varied text is: within a corpus, and between the translations of one source."""
