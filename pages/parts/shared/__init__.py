"""Parts that every page uses."""
