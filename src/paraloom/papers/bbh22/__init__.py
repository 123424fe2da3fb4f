"""BBH22: Burchell, Birch and Heafield (2022): experiments with back-translated text of several decodings."""
