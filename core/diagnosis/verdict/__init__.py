"""The outcome of a comparison in sentences, which are made from the trace."""
