"""Parts of the page Texts: documents, builds, and the graphs of the documents."""
