"""PNMT: Wieting and Gimpel (2018), ParaNMT-50M: the LSTM paraphraser, trainings and tables."""
