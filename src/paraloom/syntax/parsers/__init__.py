"""Parsers: our own network, spaCy, Stanza, and files that other parsers wrote."""
