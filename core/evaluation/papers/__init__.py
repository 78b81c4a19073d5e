"""The papers' tables: what they print, what makes them here, and both beside each other."""
