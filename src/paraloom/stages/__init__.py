"""Stages: each room's functions as configuration, for pipelines."""
