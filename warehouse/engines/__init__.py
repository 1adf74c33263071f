"""Where compiled queries run. An engine takes Sql and gives rows or columns; it knows no statement and no measure."""
