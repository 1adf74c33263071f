"""One file a statement."""
