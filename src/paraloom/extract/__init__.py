"""Extracts documents from web pages: charset, main text, language and images, out of files and WARC archives."""
