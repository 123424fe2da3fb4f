"""MultiNews: Afli, Lohar and Way (2017): scores of all pairs of documents."""
