"""Building a store from more triples than memory holds: read in blocks, spilled, sorted part by part, taken up again after a stop."""
