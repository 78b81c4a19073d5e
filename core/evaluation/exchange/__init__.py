"""Export of evaluations and corpora to the file formats of other evaluation tools."""
