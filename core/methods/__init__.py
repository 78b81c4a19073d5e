"""The catalogue of methods: published ones in TOML files, and those a person saved."""
