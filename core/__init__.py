"""Hopscope's engine: graphs, models, operators, instances, and the runs that join them. Imports nothing heavy."""
