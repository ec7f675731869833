"""The map: from a student's file to a verdict, on the simulated GPU."""

from flow import flow


def draw(narrow=False):
    return flow(
        "architecture-verdict", "From a student's file to a verdict",
        "The judge compiles the file and starts two processes: a device worker that owns the simulated GPU, and a runner with the student's "
        "host code. The runner asks the worker to launch. The judge reads results, findings and counts from the worker and decides.",
        [
            ("the judge: our code", "panel", [
                ("labN_*/gemm.cu", "What the student wrote, and nothing else of theirs."),
                ("grader/compile", "clang makes PTX of the device code and a program of the host code, in an emptied environment, with limits on "
                 "time and memory. Kept by content: an unchanged file is not compiled again."),
                ("grader/judge: session", "Draws A and B for a shape, and starts a pair of processes that is thrown away with them."),
            ]),
            ("the device worker: a stranger's PTX", "mark", [
                ("Device: load, alloc", "Parses the PTX as hostile text. A, B and C have exactly their size; C is poisoned, A and B are read-only."),
            ]),
            ("the runner: the student's process", "bad", [
                ("launcher, <<<...>>>", "Gets sizes and addresses that mean nothing in its own memory. The CUDA runtime that it is linked with is a thin "
                 "client: launch, allocate, free are requests over a socket."),
            ]),
            ("the device worker", "mark", [
                ("server: the policy", "Each request is checked; copies to the host are refused, so no element of an input or a result ever "
                 "reaches the runner."),
                ("Device: launch", "Runs the grid: results, findings, counts per line and per allocation."),
            ]),
            ("the judge", "panel", [
                ("right?", "Every element against a reference in double precision, |c - ref| <= 32 u (|A||B|), and bit for bit on small integers; "
                 "no findings; inputs unchanged."),
                ("grader/diagnose", "If not: probes with one-hot and block-constant inputs give the bug a name, a place and a next step."),
                ("goals.cpp", "If so: each count against its upper bound, a function of M, N, K and the reference tile."),
                ("grader/report", "One model, shown as text, JSON and JUnit. Exit status 0 only if all selected checks passed."),
            ]),
        ], narrow)
