"""The version of Paraloom, which signatures carry."""

__version__ = "0.2.0"
