"""W17: Wieting, Mallinson and Gimpel (2017): the classifier of references and translations, trainings and tables."""
