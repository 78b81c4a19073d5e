"""Operators of stage “resolve”, which join names of one entity and remove common terms."""
