"""The catalogue of instances: published ones in TOML files, and those a person saved."""
