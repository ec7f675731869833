"""Finds the result of whoever submitted, by email or SID."""
import hashlib
import json
import os
import shutil
import sys

root = sys.argv[1]
with open(os.path.join(root, "submission_metadata.json"), encoding="utf-8") as text:
    users = json.load(text)["users"]
keys = [str(user[field]) for user in users for field in ("email", "sid") if user.get(field)]
for key in keys:
    name = hashlib.sha256(key.strip().lower().encode()).hexdigest() + ".json"
    source = os.path.join(root, "source", "results", name)
    if os.path.exists(source):
        shutil.copyfile(source, os.path.join(root, "results", "results.json"))
        sys.exit(0)
sys.exit("no result for " + ", ".join(keys) + ": it was not among those that were graded, or is not in the roster")
