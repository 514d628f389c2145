"""Uploads a directory with huggingface_hub, for test/python/hub-client.test.ts.

Reads {"env", "name", "folder", "paths"}. Prints {"committed": whether the upload changed the repository, "files": the
files of the repository at the paths}. If it reads null, it prints the version of huggingface_hub instead.
"""

import json
import os
import sys

request = json.load(sys.stdin)
if request is None:
    import huggingface_hub

    json.dump(huggingface_hub.__version__, sys.stdout)
    sys.exit()

# Uses LFS, because the fake Hub has no Xet. The fake Hub needs a client that is not offline.
os.environ.update(request["env"], HF_HUB_OFFLINE="0", HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_PROGRESS_BARS="1")

from huggingface_hub import HfApi  # noqa: E402

api = HfApi()
repo = {"repo_id": request["name"], "repo_type": "dataset"}
api.create_repo(**repo, exist_ok=True)
before = api.dataset_info(request["name"]).sha
api.upload_folder(**repo, folder_path=request["folder"])
after = api.dataset_info(request["name"]).sha
files = [
    {"path": info.path, "size": info.size, "sha256": info.lfs.sha256 if info.lfs else None}
    for info in api.get_paths_info(paths=request["paths"], **repo)
]
json.dump({"committed": before != after, "files": files}, sys.stdout)
