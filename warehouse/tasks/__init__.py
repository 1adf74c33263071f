"""What is stored and asked about: the kinds of rows."""
