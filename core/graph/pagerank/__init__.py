"""Personalised PageRank: exact scores of all nodes, or the best nodes by several methods.

`top_nodes` is the entry point: it takes the name of a method and runs it. `problem` holds the
inputs and the result that all methods share. Each method has a module of its name, such as `fora`.
The modules `walk_loops` and `sweeps` hold compiled loops.

Terms
-----
damping : the probability of following an edge, not of a restart. The papers' alpha is 1 - damping.
step : an edge in a direction in which it may be followed.
mass : probability that a walk carries, 1 in total.
estimate, residual : of a node in a push, the mass that is certain to belong to its score, and the
    mass that has arrived and was not pushed yet.
push : add (1 - damping) of a node's residual to its estimate, and share the rest among its steps.
threshold : the residual per step of a node from which on it is pushed (r_max in papers).
settled : True if the accuracy that the method promises was reached.
"""
