"""The board: a comparison drawn as lanes on one shared picture, and its HTML report."""
