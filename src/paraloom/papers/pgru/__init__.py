"""PGRU: Zhou, Huang and Ji (2017): phrase encoders, their training and tables."""
