"""The papers' experiments and tables, on your data."""
