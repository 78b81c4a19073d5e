"""Finished runs from files: rankings, contexts and answers that another program gave, read, saved, and looked up by question."""
