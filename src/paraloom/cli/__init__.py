"""The paraloom command."""
