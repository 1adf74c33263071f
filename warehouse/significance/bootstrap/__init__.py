"""The bootstrap: units drawn with replacement, both systems' counts of each taken together (Efron & Tibshirani 1993).

Below VERY_MANY_UNITS units the resamples depend on the seed, the stream and the number of units alone, so that they are
the same for all measures and pairs; above, each pair draws how often each kind of its own units comes. Either way what
comes out for a pair depends on nobody else, and changes its sign where the pair is turned around.
"""
