"""The engine's work for other programs: over the Model Context Protocol, and over HTTP."""
