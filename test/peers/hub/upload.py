"""Uploads a directory by the Hub's own client for Python, and says what is there then. JSON in, JSON out."""

import json
import os
import sys

asked = json.load(sys.stdin)
if asked is None:
    import huggingface_hub

    json.dump(huggingface_hub.__version__, sys.stdout)
    sys.exit()

# By LFS, as the fake speaks it; and online, as far as this machine goes.
os.environ.update(asked["env"], HF_HUB_OFFLINE="0", HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_PROGRESS_BARS="1")

from huggingface_hub import HfApi  # noqa: E402

api = HfApi()
repo = {"repo_id": asked["name"], "repo_type": "dataset"}
api.create_repo(**repo, exist_ok=True)
before = api.dataset_info(asked["name"]).sha
api.upload_folder(**repo, folder_path=asked["folder"])
after = api.dataset_info(asked["name"]).sha
files = [
    {"path": info.path, "size": info.size, "sha256": info.lfs.sha256 if info.lfs else None}
    for info in api.get_paths_info(paths=asked["paths"], **repo)
]
json.dump({"committed": before != after, "files": files}, sys.stdout)
