"""Compositions of stages, with no mechanism of their own."""
