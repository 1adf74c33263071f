"""Tests whose null distribution is known: nothing is exchanged and nothing drawn."""
