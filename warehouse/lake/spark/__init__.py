"""Spark as the engine for data that do not fit on one machine: sums of facts run on Spark, over a lake.

    address of a Spark -starting-> session -opening-> names and views -engine-> rows and columns, shared-out work

Spark runs in this process with Java, or elsewhere behind Spark Connect. pyspark and sqlglot are imported only when a
lake is opened.
"""
