"""Published programs compared with Hopscope on the same texts, model replies and vectors.

Their results are recorded in `recorded`.
"""
