"""Tables of published papers: the printed figures, the figures made here, and both side by side."""
