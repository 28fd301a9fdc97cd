"""Readers of file formats: bytes in, blocks of text out. All of it is work for a thread."""
