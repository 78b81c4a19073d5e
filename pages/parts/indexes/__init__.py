"""Parts of the page Indexes: a card for each kind."""
