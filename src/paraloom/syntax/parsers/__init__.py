"""Parsers: our own grammar, spaCy, Stanza, and files that other parsers wrote."""
