"""Names of nodes and relations: look-up, detection in questions, and phrases for relations."""
