"""Stage “resolve”: which names of all chunks are one entity, and which terms are none."""
