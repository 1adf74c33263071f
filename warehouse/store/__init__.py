"""The warehouse file: schema, names, opening, changing, keeping it sound. The only room that imports duckdb."""
