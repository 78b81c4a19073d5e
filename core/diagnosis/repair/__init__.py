"""Changes of one step that bring a lane what it lost, tried on its question."""
