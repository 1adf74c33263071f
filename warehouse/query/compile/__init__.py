"""Plans to SQL: the only room that writes queries over the facts."""
