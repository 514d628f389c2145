"""Tests whether the packages of the recipe's pipeline exist, for test/python/pipeline.test.ts. Prints {}."""

import importlib.metadata

for package in ("trl", "fastapi", "uvicorn", "openai"):
    importlib.metadata.version(package)
print("{}")
