"""Parsers: our own grammar and network, spaCy, Stanza, and files that other parsers wrote."""
