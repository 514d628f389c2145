"""Copies a Parquet file with another compression, with PyArrow. Reads [path, output, compression] as JSON from the standard input,
and prints PyArrow's version as {"version"}."""

import json
import sys

import pyarrow
import pyarrow.parquet


def main():
    path, output, compression = json.load(sys.stdin)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), output, compression=compression)
    json.dump({"version": pyarrow.__version__}, sys.stdout)


main()
