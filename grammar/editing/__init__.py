"""Support while a query is typed: completion, colours, layout, and explanations of mistakes."""
