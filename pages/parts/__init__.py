"""Parts of the pages, in a folder for each subject."""
