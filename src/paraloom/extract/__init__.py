"""Web pages to documents: charset, main text, images, languages, WARC archives."""
