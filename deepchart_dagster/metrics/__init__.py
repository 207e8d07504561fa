"""From results to tables: Parquet per asset partition, a DuckDB store built from it, dbt models, the leaderboard.

tables       the raw tables: columns, types, what they mean
rows         the rows of an asset partition, into its Parquet file
parquet      writing and reading those files
store        raw.duckdb, built anew from all Parquet files and swapped in
dbt          building the marts on a copy of the store, and publishing it as deepchart.duckdb
bootstrap    confidence intervals of means
leaderboard  the published tables, read from the marts
"""
