"""Tests whose null distribution is known, so that nothing is exchanged or drawn at random."""
