"""Files that people have, read as documents: text, Markdown, HTML, PDF, Word, tables and JSON rows; folders and zips of them."""

from core.corpus.readers.files import SUFFIXES, Read, read_files

__all__ = ["SUFFIXES", "Read", "read_files"]
