"""A student's result as Gradescope's results.json, and an autograder that hands back results that are there already.

    gradescope.py GRADES_FOLDER RESULTS_JSON     of a folder with one student, for run_autograder

Fields: gradescope-autograders.readthedocs.io, "Autograder specifications"."""
import hashlib
import json
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
OUTPUT_CAP = 16 << 10


def cut(text):
    return text if len(text) <= OUTPUT_CAP else text[:OUTPUT_CAP] + "\n..."


def test_of(stage, lab):
    lines = [stage["headline"], *stage["details"]]
    if stage["next_step"]:
        lines.append("Next: " + stage["next_step"])
    for goal in stage["goals"]:
        if goal["finite"]:
            lines.append(f"{goal['what']}: {goal['measured']:g}, at most {goal['bound']:g} are allowed"
                         f" ({'x'.join(str(extent) for extent in goal['at'])}, {goal['type']})")
    return {"name": f"{stage['id']} {stage['title']}", "number": stage["id"],
            "score": stage["earned"] or 0,
            # Bonus stages add to the score and take nothing from it.
            "max_score": stage["points"] if stage["kind"] == "core" else 0,
            "status": "passed" if stage["state"] == "passed" else "failed",
            "output": cut("\n".join(line for line in lines if line)), "output_format": "text",
            "tags": [lab["name"], stage["kind"]], "visibility": "visible"}


def leaderboard(result):
    """Counts of the simulated GPU, the fewer the better: the last goal of each lab that every kernel is measured by.
    Who has no right kernel has no count."""
    rows = []
    for lab in result["labs"]:
        measured = [(stage, goal) for stage in lab["stages"] for goal in stage["goals"]
                    if stage["kind"] == "core" and goal["finite"]]
        if measured:
            stage, goal = measured[-1]
            rows.append({"name": f"{stage['id']} {goal['what']}", "value": goal["measured"], "order": "asc"})
    return rows


def results(result):
    """Of one file of results/. An INFRA_ERROR is no result: the caller must not write one."""
    tests = [test_of(stage, lab) for lab in result["labs"] for stage in lab["stages"] if stage["state"] != "skipped"]
    remarks = [*result.get("remarks", [])]
    remarks += [f"{lab['name']}: {lab['build']['headline']}" for lab in result["labs"]
                if lab["build"]["status"] not in ("ok", "missing")]
    standing = result.get("standing", {})
    tests += [{"name": f"{stage} speed", "score": points, "max_score": 0, "status": "passed" if points else "failed",
               "output": "Measured on a GPU.", "output_format": "text", "visibility": "visible"}
              for stage, points in standing.get("speed", {}).items() if points is not None]
    if standing.get("late_cost"):
        remarks.append(f"{standing['late_days']:g} days late: {standing['late_cost']:g} points less")
    document = {"output": cut("\n".join(remarks) or "All stages below were judged on a simulated GPU."),
                "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden",
                "tests": tests, "leaderboard": leaderboard(result),
                "extra_data": {"version": result["version"], "protection": result.get("protection", ""),
                               "submission_sha256": result.get("submission_sha256", "")}}
    # Without a score Gradescope adds up the tests.
    if not tests or standing.get("late_cost"):
        document["score"] = standing.get("score", 0) + standing.get("bonus", 0)
    return document


def file_of(key):
    """A name that says nothing of the student, for whoever looks into the archive."""
    return "results/" + hashlib.sha256(key.strip().lower().encode()).hexdigest() + ".json"


def add(archive, name, data, mode=0o644):
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def write_replay(folder, students, target):
    """An autograder zip: each submission gets the result that was made here. Returns who cannot be found by it."""
    left_out = []
    with zipfile.ZipFile(target, "w") as archive:
        for name in ("setup.sh", "run_autograder", "replay.py"):
            with open(os.path.join(HERE, "replay", name), "rb") as text:
                add(archive, name, text.read(), 0o755)
        for one in students:
            row = {key.strip().lower(): value for key, value in one.get("roster", {}).items()}
            keys = {row.get(name, "") for name in ("email", "email address", "sid", "student id")} | {one["student"]}
            if not any("@" in key for key in keys) and not (row.get("sid") or row.get("student id")):
                left_out.append(one["student"] + ": neither an email nor a SID. Take Gradescope's roster as ROSTER")
                continue
            with open(os.path.join(folder, one["result"]), encoding="utf-8") as text:
                data = json.dumps(results(json.load(text)), indent=1)
            for key in sorted(keys - {""}):
                if file_of(key) not in archive.namelist():
                    add(archive, file_of(key), data)
    return left_out


def main():
    folder, target = sys.argv[1:]
    with open(os.path.join(folder, "grades.json"), encoding="utf-8") as text:
        student, = json.load(text)["students"]
    if student["status"] not in ("GRADED", "NO_SUBMISSION"):
        # No results.json: Gradescope then says that the autograder failed, and no student gets a zero for it.
        sys.exit(f"not graded: {student['status']} {student['remarks']}")
    with open(os.path.join(folder, student["result"]), encoding="utf-8") as text:
        document = results(json.load(text))
    partial = target + ".partial"
    with open(partial, "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
    os.replace(partial, target)


if __name__ == "__main__":
    main()
