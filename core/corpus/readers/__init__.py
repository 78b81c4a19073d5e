"""Readers of files as documents.

They read text, Markdown, HTML, PDF, Word, tables, JSON rows and more, and folders and zips of
files.
"""

from core.corpus.readers.files import READABLE_SUFFIXES, ReadingResult, read_files

__all__ = ["READABLE_SUFFIXES", "ReadingResult", "read_files"]
