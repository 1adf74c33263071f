"""How often a test would find a difference of a given size, by simulation: populations, samples from them, and
searches.
"""
