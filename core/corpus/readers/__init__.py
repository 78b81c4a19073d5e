"""Readers of files as documents.

They read text, Markdown, HTML, PDF, Word, tables, JSON rows and more, and folders and zips of
files.
"""

from core.corpus.readers.files import SUFFIXES, Read, read_files

__all__ = ["SUFFIXES", "Read", "read_files"]
