"""A user's own retrievers: declaration, calls and checks."""
