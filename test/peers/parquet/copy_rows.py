"""Copies the rows of a Parquet file for which an SQL condition is true, with DuckDB. Reads [path, condition, output] from its
input; for null it copies nothing. Prints DuckDB's version as {"version"}."""

import json
import sys

import duckdb


def main():
    request = json.load(sys.stdin)
    if request is not None:
        path, condition, output = request
        duckdb.sql(f"copy (select * from read_parquet('{path}') where {condition}) to '{output}' (format parquet)")
    json.dump({"version": duckdb.__version__}, sys.stdout)


main()
