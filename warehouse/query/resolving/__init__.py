"""Names looked up: from what was written to what is stored."""
