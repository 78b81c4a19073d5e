"""Parts of the page Build, where a line is edited."""
