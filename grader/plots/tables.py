#!/usr/bin/env python3
"""tables.py FILE.json: what a file of results says, as Markdown: counts.json of make verify-counts, speed-proof.json of
measure prove-speed. The site's directives take their rows from here."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import results as R  # noqa: E402


def table(head, rows):
    """Markdown; heads that end with ":" stand over numbers."""
    marks = ["---:" if one.endswith(":") else "---" for one in head]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in ([one.rstrip(":") for one in head], marks, *rows)) + "\n"


# ---- counts.json: the profiler's counters beside simgpu's

def tallies(data):
    """[(counter, launches, equal, explained, not explained)] of launches in which one side is not 0."""
    found = {}
    for launch in data["launches"]:
        for counter, pair in launch["counts"].items():
            row = found.setdefault(counter, [0, 0, 0, 0])
            row[0] += 1
            row[1 if pair["hardware"] == pair["simulated"] else 2 if pair["why"] != R.UNEXPLAINED else 3] += 1
    return [(counter, *found[counter]) for counter in data["counters"] if counter in found]


def differences(data):
    """[(launch, counter, the GPU's, simgpu's, why)]"""
    return [(launch["launch"], counter, f"{pair['hardware']:.0f}", f"{pair['simulated']:.0f}", pair["why"])
            for launch in data["launches"] for counter in data["counters"] if "why" in (pair := launch["counts"].get(counter, {}))]


def counts_page(data):
    device = data["device"]
    return (f"# Counts: the profiler's beside simgpu's\n\n{len(data['launches'])} launches on {device['gpu']}, driver {device['driver']}, "
            f"nvcc {device['nvcc']}, ncu {device['ncu']}, {device['date']}; simgpu with clang {data['clang']}. A counter is compared in "
            "every launch where one side is not 0.\n\n"
            + table(["counter", "launches:", "equal:", "explained:", "not explained:"], tallies(data)) + "\n"
            + table(["launch", "counter", f"{device['gpu']}:", "simgpu:", "why"], differences(data)))


# ---- speed-proof.json: verdicts, again and again

def of_all(side, what):
    """"50 of 50", of the verdicts on one kernel."""
    words = f"{side[what]} of {side['verdicts']}"
    return words + (f" ({side['inconclusive']} inconclusive)" if side["inconclusive"] else "")


def margins(side):
    return "-" if side["lowest"] is None else f"{side['lowest']:.3g} ... {side['highest']:.3g}"


def bars_of(goal):
    words = {"naive": "x naive", "cublas": "of cuBLAS"}
    return ", ".join(f"{goal['bars'][one]:.3g} {words[one]}" for one in words if goal["bars"][one] > 0)


def runs_words(data):
    """GPU, drivers, dates and commits of all runs, each once, from the first to the last."""
    runs = sorted(data["runs"], key=lambda run: run["date"])

    def each(what):
        return list(dict.fromkeys(run.get(what, "?") for run in runs))

    first, last, commits = runs[0]["date"][:10], runs[-1]["date"][:10], each("commit")
    return (f"{data['machine']['gpu']}, driver {', '.join(each('driver'))}, CUDA {', '.join(each('cuda'))}, "
            f"{first if first == last else f'{first} to {last}'}, {'commits' if len(commits) > 1 else 'commit'} {', '.join(commits)}")


def proof_page(data):
    rows = []
    for goal in data["goals"]:
        solution, previous = goal["solution"], goal.get("previous")
        before = [previous["kernel"], of_all(previous, "fail"), margins(previous)] if previous else ["the naive yardstick", "-", "-"]
        rows.append([goal["goal"], bars_of(goal), solution["kernel"], of_all(solution, "pass"), margins(solution), *before])
    return ("# Speed verdicts, again and again\n\nEach goal's solution must pass every time, and the technique before it fail every "
            'time. "Ratio / bar" is from the lowest to the highest of all verdicts; at 0.97 a pass begins. '
            f"{runs_words(data)}; {data['provenance']['protocol']}.\n\n"
            + table(["goal", "asked of", "the solution", "passed:", "ratio / bar:", "the technique before", "failed:", "ratio / bar:"], rows))


PAGES = {"counts": counts_page, "speed-proof": proof_page}


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 4
    try:
        data = R.load(arguments[1], *PAGES)
        print(PAGES[data["kind"]](data), end="")
    except R.Unusable as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
