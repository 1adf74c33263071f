"""Many writers and Spark: a warehouse as a folder of Parquet files."""
