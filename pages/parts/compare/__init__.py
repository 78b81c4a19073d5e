"""Parts of the page Compare: question entities, lanes, board, edits, and sharing."""
