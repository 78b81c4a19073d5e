"""Parts of the page Build, where a line of operators is edited and tried on a question."""
