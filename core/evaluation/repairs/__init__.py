"""Why questions of a run are lost, and changes of one step that were tried on all of them."""
