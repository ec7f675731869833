"""exports_check.py results FILE | classroom FILE: are the fields those that the format has, and no others?"""
import json
import sys

VISIBILITY = ("hidden", "after_due_date", "after_published", "visible")
FORMATS = ("text", "html", "simple_format", "md", "ansi")
# field -> types; those with a star must be there.
TOP = {"score": (int, float), "execution_time": (int, float), "output": str, "output_format": FORMATS,
       "test_output_format": FORMATS, "test_name_format": FORMATS, "visibility": VISIBILITY,
       "stdout_visibility": VISIBILITY, "extra_data": dict, "tests": list, "leaderboard": list}
TEST = {"score": (int, float), "max_score": (int, float), "status": ("passed", "failed"), "name": str,
        "name_format": FORMATS, "number": str, "output": str, "output_format": FORMATS, "tags": list,
        "visibility": VISIBILITY, "extra_data": dict}
BOARD = {"name": str, "value": (int, float, str), "order": ("asc", "desc")}
CLASSROOM = {"version": int, "status": ("pass", "fail", "error"), "max_score": (int, float), "tests": list}
CLASSROOM_TEST = {"name": str, "status": ("pass", "fail", "error"), "score": (int, float), "message": str,
                  "test_code": str, "filename": str, "line_no": int, "duration": (int, float)}


def check(where, entry, fields, needed=()):
    for name, value in entry.items():
        if name not in fields:
            sys.exit(f"{where}: the format has no field {name}")
        allowed = fields[name]
        if isinstance(allowed, tuple) and isinstance(allowed[0], str):
            if value not in allowed:
                sys.exit(f"{where}.{name}: {value!r}")
        elif not isinstance(value, allowed) or isinstance(value, bool):
            sys.exit(f"{where}.{name}: {value!r}")
    for name in needed:
        if name not in entry:
            sys.exit(f"{where}: no {name}")


kind, path = sys.argv[1:]
with open(path, encoding="utf-8") as text:
    document = json.load(text)
if kind == "results":
    check("results", document, TOP, ("tests", "visibility"))
    for test in document["tests"]:
        check("test", test, TEST, ("score", "max_score", "name", "status", "output", "visibility"))
    for row in document["leaderboard"]:
        check("leaderboard", row, BOARD, BOARD)
    if not document["tests"] and "score" not in document:
        sys.exit("neither tests nor a score")
    print(sum(test["score"] for test in document["tests"]), len(document["tests"]), len(document["leaderboard"]))
else:
    check("classroom", document, CLASSROOM, CLASSROOM)
    for test in document["tests"]:
        check("test", test, CLASSROOM_TEST, CLASSROOM_TEST)
    print(document["status"], sum(test["score"] for test in document["tests"]), document["max_score"])
