"""Parts that choose a method and change its steps."""
