"""Language models: the clients, and what they share."""
