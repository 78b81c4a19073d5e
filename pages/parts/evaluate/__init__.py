"""Parts of the page Evaluate: evaluations, and the search for a method."""
