"""The catalogue of instances: published ones as TOML, and those a person saved."""
