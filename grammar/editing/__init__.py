"""What helps while a query is typed: completion, colours, layout, and what a mistake may have meant."""
