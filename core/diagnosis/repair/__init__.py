"""Changes of one step that bring a lane's losses back, tried on its question."""
