"""The catalogue of methods: published ones in TOML files, and those that a user saved.

A method is a retrieval pipeline with a name: a line of operators.
"""
