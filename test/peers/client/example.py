"""Runs the code of a guide, for test/python/texts.test.ts. Reads {"code", "env"}; prints what the code prints, as JSON."""

import io
import json
import os
import sys
from contextlib import redirect_stdout


def main():
    request = json.load(sys.stdin)
    os.environ.update(request["env"])
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(request["code"], {})
    json.dump(printed.getvalue(), sys.stdout)


main()
