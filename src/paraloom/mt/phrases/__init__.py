"""A phrase-based translator, as Park et al. (2017) use: a phrase table, a language model, and a stack decoder."""
