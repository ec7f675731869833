"""The map: from a timing request to a ratio, on a real GPU."""

from flow import flow


def draw(narrow=False):
    return flow(
        "architecture-timing", "From a timing request to a ratio",
        "In each round the candidate and the yardsticks serve one request each, in random order, on buffers of the worker. The judge's clock runs "
        "from sending to reply. All outputs are verified. The ratio of a round is what is kept.",
        [
            ("the judge: our code, and the clock", "panel", [
                ("grader/gpu: a round", "Draws a new order of candidate, naive kernel and cuBLAS."),
            ]),
            ("the worker: our code on the GPU", "mark", [
                ("fill", "New A and B from a seed that the runner never sees, more than three L2 caches of them; a C for every launch, poisoned."),
            ]),
            ("the judge", "panel", [
                ("start the clock", "And send the request: a list of products C_l = A_i B_j, as long as 0.1 s takes."),
            ]),
            ("the runner: the student's process", "bad", [
                ("launch them all", "On the worker's buffers, mapped as fast as its own memory. It waits for the whole device, then replies. "
                 "What it says about time is shown, never believed."),
            ]),
            ("the judge", "panel", [
                ("stop the clock", "And stop the runner's process until its next request."),
            ]),
            ("the worker", "mark", [
                ("verify", "Every C by Freivalds' check with vectors drawn now, rows of some in full. A reply too early leaves outputs wrong, a reply "
                 "too late counts."),
                ("yardsticks", "The worker serves the same request with the naive kernel, then with cuBLAS in the same arithmetic."),
            ]),
            ("the judge", "panel", [
                ("the ratio", "t_yardstick / t_candidate of one round: what slows the machine slows both."),
                ("the verdict", "Median over the rounds and its bootstrap interval against the bar: pass, fail, or inconclusive. A fast wrong "
                 "answer is a wrong answer."),
            ]),
        ], narrow)
