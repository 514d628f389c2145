"""Prints PyArrow's version and the contents of a Parquet file. Reads the file's path as JSON from the standard input;
if it reads null, it prints the version alone."""

import json
import sys

import pyarrow
import pyarrow.parquet


def read(path):
    file = pyarrow.parquet.ParquetFile(path)
    return {
        "types": {field.name: str(field.type) for field in file.schema_arrow},
        "metadata": {key.decode(): value.decode() for key, value in file.metadata.metadata.items()},
        "rowGroups": file.metadata.num_row_groups,
        "rows": file.read().to_pylist(),
    }


def main():
    path = json.load(sys.stdin)
    answer = {"version": pyarrow.__version__}
    if path is not None:
        answer |= read(path)
    json.dump(answer, sys.stdout)


main()
