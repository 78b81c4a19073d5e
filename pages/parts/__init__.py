"""Parts that the pages are drawn of, in a folder for each page or subject."""
