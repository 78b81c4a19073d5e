"""Changes of one step that may bring a lane what it lost, by what lost it."""
