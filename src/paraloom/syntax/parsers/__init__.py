"""Parsers: our grammar, spaCy, Stanza and parse files."""
