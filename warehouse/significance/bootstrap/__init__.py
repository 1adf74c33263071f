"""The bootstrap: units are drawn with replacement, and each unit brings the counts of both systems (Efron & Tibshirani
1993).

Below VERY_MANY_UNITS units the resamples depend only on the seed, the stream and the number of units, so that all
measures and pairs share them. Above, each pair groups its units by their counts and draws how often each group occurs.
In both cases the result of a pair does not depend on other systems, and it changes only its sign if the pair is
reversed.
"""
