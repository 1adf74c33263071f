"""What is stored and asked about: the forms of facts."""
