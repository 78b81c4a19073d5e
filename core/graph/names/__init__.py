"""Names of nodes and relations: looked up, found in questions, put into words."""
