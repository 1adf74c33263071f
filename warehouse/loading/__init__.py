"""From files to facts: readers, checks, and the load itself."""
