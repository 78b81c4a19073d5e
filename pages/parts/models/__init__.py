"""Parts of the page Models: cards, roles, a trial, and the form to add a server."""
