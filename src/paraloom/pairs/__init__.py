"""Pairs out of bitext and translations: built, scored, filtered."""
