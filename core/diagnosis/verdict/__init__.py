"""What a comparison comes to, in sentences made from the trace."""
