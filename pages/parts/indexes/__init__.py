"""Parts of the page Indexes: a card for each kind of index of a graph."""
