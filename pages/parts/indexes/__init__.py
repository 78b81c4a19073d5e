"""Parts of the page Indexes."""
