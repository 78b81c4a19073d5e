"""Readers of files as documents: text, Markdown, HTML, PDF, Word, tables, JSON rows and more.

`read_files` also takes folders and zips. Formats that a library parses are read in a separate
process, as damaged files may exhaust memory or crash it.
"""

from core.corpus.readers.files import READABLE_SUFFIXES, ReadingResult, read_files

__all__ = ["READABLE_SUFFIXES", "ReadingResult", "read_files"]
