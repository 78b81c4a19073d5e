"""Parts of the page Cases."""
