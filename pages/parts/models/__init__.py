"""Parts of the page Models: cards, roles, trial and form."""
