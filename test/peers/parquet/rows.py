"""Prints PyArrow's version and the contents of a Parquet file. Reads {"path"} as JSON from the standard input; with "output" and
"compression" it copies the file instead. If it reads null, it prints the version alone."""

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


request = json.load(sys.stdin)
answer = {"version": pyarrow.__version__}
if request is not None and "output" in request:
    table = pyarrow.parquet.read_table(request["path"])
    pyarrow.parquet.write_table(table, request["output"], compression=request["compression"])
elif request is not None:
    answer |= read(request["path"])
json.dump(answer, sys.stdout)
