"""Parts of the command palette, which finds whatever the app has."""
