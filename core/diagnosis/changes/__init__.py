"""Changes of one step that may bring back the losses of a lane."""
