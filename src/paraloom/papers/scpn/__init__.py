"""SCPN: Iyyer et al. (2018): LSTMs that write a parse and a paraphrase, and measures of control."""
