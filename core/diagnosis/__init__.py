"""Where the right answers of one comparison were lost, and what would bring them back."""
