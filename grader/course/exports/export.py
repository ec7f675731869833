"""Grades as gradebooks import them: Canvas, Moodle, Gradescope.

    export.py GRADES_FOLDER canvas|moodle|gradescope [--assignment "GEMM (1234)"]

reads grades.json and results/ of `make grade` and writes GRADES_FOLDER/export/. Who was not graded is left out, so that
an import changes nothing for them, and is listed. The grade is the score plus the bonus, less what lateness costs."""
import argparse
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gradescope  # noqa: E402

GRADED = ("GRADED", "NO_SUBMISSION")


class Refusal(Exception):
    """One line for whoever typed the command."""


def plain(value):
    """A number for a gradebook: a point, at most two decimals, no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def harmless(cell):
    """One line that no spreadsheet takes for a formula, as csv_cell of grader/os/escape.cpp has it."""
    text = "".join(" " if c in "\r\n\t" else c for c in cell if c in "\r\n\t" or ord(c) >= 32)
    first = text.lstrip(" \x85\u00a0\u200b\u2028\u3000\ufeff")[:1]
    return "'" + text if first and first in "=+-@\uff1d\uff0b\uff0d\uff20" else text


def table(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def column(student, *names):
    """The roster's cell below the first of these columns (in lower case) that has something in it."""
    row = {key.strip().lower(): value for key, value in student.get("roster", {}).items()}
    return next((row[name] for name in names if row.get(name)), "")


def grade_of(student):
    return student["score"] + student["bonus"]


def canvas(document, students, assignment):
    """Canvas finds a person by ID, SIS User ID or SIS Login ID, and an assignment by its name and id."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", assignment]
    rows = [head, ["    Points Possible", "", "", "", "", plain(document["possible"])]]
    left_out = []
    for one in students:
        ids = [column(one, "id"), column(one, "sis user id"), column(one, "sis login id")]
        if not any(ids) and document["source"] == "canvas" and "roster" not in one:
            ids[0] = one["student"]
        if any(ids):
            name = column(one, "student") or one.get("name", "")
            rows.append([name, *ids, column(one, "section") or one.get("section", ""), plain(grade_of(one))])
        else:
            left_out.append(one["student"] + ": no ID, SIS User ID or SIS Login ID. Take Canvas's gradebook as ROSTER")
    return table(rows), left_out


MOODLE_KEYS = (("Email address", ("email address", "email")), ("ID number", ("id number", "student id", "sid")),
               ("Username", ("username", "login")))


def moodle(_, students, assignment):
    """Moodle asks which column is what. One key for all, a grade and a feedback: with the one alone it drops both."""
    known = {key: [one for one in students if column(one, *names)] for key, names in MOODLE_KEYS}
    key, names = max(MOODLE_KEYS, key=lambda pair: len(known[pair[0]]))
    rows = [[key, assignment, assignment + " (feedback)"]]
    for one in known[key]:
        stages = "; ".join(f"{stage}: {plain(points)}" for stage, points in one["stages"].items())
        speed = "; ".join(f"{stage} speed: {plain(points)}" for stage, points in one.get("speed", {}).items() if points is not None)
        late = f"{plain(one['late_days'])} days late: {plain(one['late_cost'])} points less" if one.get("late_cost") else ""
        feedback = ". ".join(part for part in (stages, speed, late, one["remarks"]) if part)
        rows.append([column(one, *names), plain(grade_of(one)), feedback or "no points"])
    left_out = [one["student"] + f": no {key}. Take Moodle's list of participants or grading sheet as ROSTER"
                for one in students if one not in known[key]]
    return table(rows), left_out


def run(folder, kind, assignment):
    path = os.path.join(folder, "grades.json")
    try:
        with open(path, encoding="utf-8") as text:
            document = json.load(text)
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}. First: make grade SUBMISSIONS=folder OUT={folder}") from None
    except ValueError as error:
        raise Refusal(f"{path} is damaged: {error}. Run make grade again") from None
    graded = [one for one in document["students"] if one["status"] in GRADED]
    waiting = [f"{one['student']}: {one['status']}" for one in document["students"] if one["status"] not in GRADED]
    out = os.path.join(folder, "export")
    os.makedirs(out, exist_ok=True)
    if kind == "gradescope":
        target = os.path.join(out, "gradescope.zip")
        left_out = gradescope.write_replay(folder, graded, target)
    else:
        text, left_out = (canvas if kind == "canvas" else moodle)(document, graded, assignment)
        if text.count("\n") == (2 if kind == "canvas" else 1):
            raise Refusal(f"nobody to export: {(left_out + waiting or ['no student'])[0]}")
        target = os.path.join(out, kind + ".csv")
        with open(target, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    for line in left_out + waiting:
        print("not exported: " + harmless(line))
    print("written: " + target)


def main():
    parser = argparse.ArgumentParser(description="Grades as gradebooks import them.")
    parser.add_argument("folder")
    parser.add_argument("kind", choices=("canvas", "moodle", "gradescope"))
    parser.add_argument("--assignment", default="CUDA GEMM Lab")
    options = parser.parse_args()
    try:
        run(options.folder, options.kind, options.assignment)
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(4)
    except (OSError, ValueError) as error:  # a result that is not there or damaged, a folder that cannot be written to
        print(f"error: nothing was exported: {error}", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
