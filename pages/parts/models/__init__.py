"""Parts of the page Models."""
