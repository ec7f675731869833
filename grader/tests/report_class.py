"""Makes the grades of a class of N, with names and messages that were written to harm a page.

    report_class.py FOLDER N [sim]    with "sim" nobody has measured anything"""
import json
import os
import random
import sys

HOSTILE = [
    '<script>document.title="owned"</script>', '"><img src=x onerror=alert(1)>', "</script><script>alert(1)</script>", "</title><b>x",
    "\u202egnp.exe", "Ann\u2066 Lee\u2069", "a\x1b[31mred", "${title} $body", "&lt;b&gt;", "=HYPERLINK(1)", "new\nline", "' onmouseover='alert(1)", "\u200f\u200e",
]
DIAGNOSES = ["TRANSPOSED", "UNWRITTEN", "RACE", "OUT-OF-BOUNDS", "GOAL-SECTORS", "HANG", "LAST-K"]
LABS = [(1, "lab1_naive", "One thread per element", ["1.0", "1.1", "1.2"]),
        (2, "lab2_register_tile", "A tile per thread", ["2.1", "2.2", "2.3"]),
        (3, "lab3_shared_mem", "Tiles in shared memory", ["3.0.1", "3.0", "3.1", "3.2", "3.3", "3.4"])]


GPU = {"1.2": ("naive", 0.9), "2.3": ("naive", 2.4), "3.3": ("cublas", 0.42), "3.4": ("cublas", 0.5)}


def on_gpu(chance, name, number, words):
    """What a GPU says of a stage that is right: fast enough, slow, noisy, suspect, wrong there, or the machine's fault."""
    by, goal = GPU[name]
    ratio = goal * chance.lognormvariate(0.1, 0.25)
    verdict, state, what, headline, suspect, measured = "pass" if ratio >= goal else "fail", "passed", "ACCEPTED", "", [], True
    if number % 31 == 3:
        verdict = "inconclusive"
    elif number % 37 == 4:
        suspect = [words]
    elif number % 43 == 6:
        measured, state, what, headline = False, "failed", "WRONG_ANSWER", words
    elif number % 53 == 8:
        measured, state, what, headline = False, "infra", "INFRA_ERROR", "the GPU is gone"
    if verdict == "fail" and measured and not suspect:
        state, what, headline = "failed", "TOO_SLOW", "too slow"
    over = [ratio * 0.99, ratio, ratio * 1.01]
    goals = [{"type": "float", "at": [4096, 4096, 4096], "verdict": verdict, "reason": "too noisy" if verdict == "inconclusive" else "", "by": by,
              "ratio": ratio, "bar": goal, "over_naive": over if by == "naive" else None, "over_cublas": over if by == "cublas" else None,
              "ms": 3.1, "suspect": suspect}]
    if name == "3.3":
        goals.append(dict(goals[0], type="int32", verdict="not_measured", ratio=0.0, reason=words, suspect=[]))
    return {"state": state, "inconclusive": verdict == "inconclusive", "verdict": what, "headline": headline, "details": [words] if headline else [],
            "speed": goals if measured else []}


def counted(chance, name):
    """The line of a hostile source and one that is not there."""
    at = chance.randrange(1, 4)
    return {"file": "lab1_naive/gemm.cu" if name[0] == "1" else "gone.cu", "type": "float", "at": [256, 256, 256],
            "lines": [[1, 1000 * at, 4096, 1024, 0, 0], [2, 900, 0, 0, 2048, 2048], [77, 1, 512, 512, 0, 0]]}


def stage_of(chance, name, reached, words):
    state = "passed" if reached == "passed" else "failed" if reached == "failed" else "locked"
    failed = state == "failed"
    return {"id": name, "title": f"Stage {name}", "rung": "r", "kind": "bonus" if name == "3.4" else "core", "state": state,
            "verdict": {"passed": "ACCEPTED", "failed": "WRONG_ANSWER", "locked": "LOCKED"}[state],
            "diagnosis": chance.choice(DIAGNOSES) if failed else "", "headline": words if failed else "right for 25 shapes",
            "details": [words, "row 3, column 4: 17, expected 12"] if failed else [], "next_step": words if failed else "",
            "shape": "17×33×21" if failed else "", "type": "float" if failed else "", "file": "lab1_naive/gemm.cu" if failed else "",
            "line": 2 if failed else 0, "notes": [words] if failed else [], "printed": words if failed else "", "goals": [],
            "assertions": 1, "passed_assertions": 1, "points": 5.0, "earned": 5.0 if state == "passed" else 0.0, "seconds": 0.1}


def main():
    folder, count, chance = sys.argv[1], int(sys.argv[2]), random.Random(1)
    device = sys.argv[3] if len(sys.argv) > 3 else "gpu"
    os.makedirs(os.path.join(folder, "results"))
    students = []
    for number in range(count):
        words = HOSTILE[number % len(HOSTILE)]
        who, key = f"{words} {number}" if number < 2 * len(HOSTILE) else f"student{number:03}", f"s{number:05}"
        status = "INFRA_ERROR" if number % 97 == 5 else "NO_SUBMISSION" if number % 41 == 7 else "GRADED"
        labs, going, earned = [], True, 0
        for lab_id, name, title, stages in LABS if status == "GRADED" else []:
            made = []
            for stage in stages:
                reached = "passed" if going and chance.random() < 0.88 else "failed" if going else "locked"
                going = reached == "passed"
                made.append(stage_of(chance, stage, reached, words))
                if reached != "locked":
                    made[-1]["counted"] = counted(chance, stage)
                if reached == "passed" and stage in GPU and device == "gpu":
                    made[-1]["gpu"] = on_gpu(chance, stage, number, words)
                earned += made[-1]["earned"]
            labs.append({"id": lab_id, "name": name, "title": title, "file": "", "source_sha256": "",
                         "build": {"status": "ok", "headline": "", "details": [], "warnings": [], "seconds": 1}, "stages": made})
        result = {"schema": 1, "version": "test", "status": status, "labs": labs, "student": who, "remarks": [words] if number < 26 else []}
        if number == 30:
            result["uncounted"] = [{"file": words, "why": "an empty file"}]
        if number == 31:
            result["remarks"] = ["extra: notes (final)"]  # its name has the brackets
        if status == "INFRA_ERROR":
            result["cause"] = "the judge died of SIGKILL"
        if number == 9:
            result["previous"] = [{"stages": [dict(stage_of(chance, "1.0", "failed", words), earned=0.0)]}]
        with open(os.path.join(folder, "results", f"{key}.json"), "w", encoding="utf-8") as out:
            json.dump(result, out)
        if labs:
            os.makedirs(os.path.join(folder, "sources", key, "lab1_naive"))
            with open(os.path.join(folder, "sources", key, "lab1_naive", "gemm.cu"), "w", encoding="utf-8") as out:
                out.write(f"// {words}\nint main() {{}}\n")
        entry = {"student": who, "status": status, "name": words if number < 26 else f"Name {number}", "section": "A" if number % 2 else "B",
                 "stages": {}, "remarks": "", "result": f"results/{key}.json"}
        if status != "INFRA_ERROR":
            entry.update(score=earned, bonus=0.0)
        students.append(entry)
    with open(os.path.join(folder, "grades.json"), "w", encoding="utf-8") as out:
        json.dump({"schema": 1, "version": "test", "protection": "boxed: namespaces, limits", "device": device, "setting": "x", "possible": 55.0,
                   "bonus_possible": 5.0, "students": students, "source": "folders", "unknown": [HOSTILE[0]], "missing": ["zoe"], "ignored": []}, out)


if __name__ == "__main__":
    main()
