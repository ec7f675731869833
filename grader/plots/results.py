"""What bench.json and its neighbours hold, for plots and reports. Standard library only."""

import json
import os
import re

EVEN = (256, 512, 1024, 2048, 4096, 8192)
MATHS = ("float", "double", "int32", "tf32", "bfloat16", "half")
MATH_NAMES = {"float": "FP32", "double": "FP64", "int32": "int32", "tf32": "TF32", "bfloat16": "BF16", "half": "FP16"}
SCHEMA = 2  # of all files of results: grader/bench/record.hpp says what stands in them
SECTOR_BYTES = 32
UNEXPLAINED = "NOT EXPLAINED"  # of a difference in counts.json, as verify_counts.cpp writes it


class Unusable(Exception):
    """A file that is not what it should be; the message is for people."""


def tflops(record, key="ms"):
    return 2e-9 * record["m"] * record["n"] * record["k"] / record[key]


def middle(ratio):
    """Of over_cublas or over_naive: [low, median, high], or a quotient without an interval."""
    return ratio[1] if isinstance(ratio, list) else ratio


def parse(text, name, *kinds):
    """What a file holds, of one of these kinds; `name` is for messages. Records and yardsticks get what follows from them:
    tflops, percent_of_cublas, cublas_tflops, naive_tflops."""
    try:
        data = json.loads(text)
    except ValueError:
        raise Unusable(f"{name} is no JSON") from None
    if not isinstance(data, dict) or data.get("kind") not in kinds or data.get("schema") != SCHEMA:
        raise Unusable(f"{name} is no {' or '.join(kinds)} file of this version")
    for record in data.get("records", []):
        if "ms" in record:
            record["tflops"] = tflops(record)
        if "over_cublas" in record:
            record["percent_of_cublas"] = 100 * middle(record["over_cublas"])
    for one in data.get("yardsticks", []):
        one.update({key.replace("_ms", "_tflops"): tflops(one, key) for key in ("cublas_ms", "naive_ms") if key in one})
    return data


def load(path, *kinds):
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), path, *kinds)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def beside(path, name, kind):
    """A file in the same folder, or None."""
    other = os.path.join(os.path.dirname(os.path.abspath(path)), name)
    return load(other, kind) if os.path.exists(other) else None


def is_square(record, n=None):
    return record["m"] == record["n"] == record["k"] and (n is None or record["n"] == n)


def shape_name(record):
    return str(record["n"]) if is_square(record) else f"{record['m']}x{record['n']}x{record['k']}"


def measured(bench, math=None, n=None):
    """Timed records, in the order of labs; squares of n only if given."""
    found = [r for r in bench["records"] if r["status"] == "measured" and (math is None or r["math"] == math)
             and (n is None or is_square(r, n))]
    return sorted(found, key=lambda r: r["lab"])  # stable: rungs stay as the lab lists them


def maths(bench):
    have = {r["math"] for r in bench["records"] if r["status"] == "measured"}
    return [m for m in MATHS if m in have]


def yardsticks(bench, math):
    return [y for y in bench["yardsticks"] if y["math"] == math and y["status"] == "measured"]


def best_square(bench):
    """The size for a ladder: 4096 if measured, else the largest even size that most rungs have."""
    counts = {n: len(measured(bench, n=n)) for n in EVEN}
    if counts[4096]:
        return 4096
    most = max(counts.values(), default=0)
    return max((n for n, count in counts.items() if count == most and count), default=None)


def provenance_line(bench):
    machine, source = bench["machine"], bench["provenance"]
    if not machine:
        return f"CPU only: {source.get('cpu', 'unknown')}, {source.get('date', '?')[:10]}"
    return (f"{machine.get('gpu', '?')}, driver {machine.get('driver', '?')}, CUDA {machine.get('cuda', '?')}, "
            f"cuBLAS {machine.get('cublas', '?')}, {source.get('date', '?')[:10]}")


def provenance_words(results, between=", "):
    """Of a sweep, in one line."""
    machine = results["machine"]
    return between.join([machine.get("gpu", "?"), f"driver {machine.get('driver', '?')}", results["provenance"].get("date", "?")[:10]])


def ceilings_by_name(ceilings):
    """{name: median} of loops that computed what they should."""
    return {c["name"]: c["median"] for c in (ceilings or {}).get("ceilings", []) if c.get("right")}


# The multiply-add roofs of a type: name in ceilings.json, words.
ROOFS = {
    "float": (("ffma", "FFMA"),),
    "double": (("dfma", "DFMA"), ("dmma", "DMMA")),
    "int32": (("imad", "IMAD"),),
    "tf32": (("hmma_tf32", "mma.sync TF32"), ("wgmma_tf32", "wgmma TF32")),
    "bfloat16": (("hmma_bf16", "mma.sync BF16"), ("wgmma_bf16", "wgmma BF16")),
    "half": (("hmma_f16", "mma.sync FP16"), ("wgmma_f16", "wgmma FP16")),
}


def intensities(counts, n):
    """{(rung, type): operations per byte that the kernels ask of global memory at n}, from counts.json.

    Requests of warps in sectors of 32 bytes, caches not considered, counted at 256 x 256 x 256: loads (those of
    asynchronous copies are among them) grow like n cubed, stores like n squared.
    """
    found = {}
    times = n / 256
    for launch in (counts or {}).get("launches", []):
        match = re.fullmatch(r"lab \d+ (\w+)<(\w+)>, 256x256x256", launch["launch"])
        if not match:
            continue
        sectors = {name: launch["counts"].get(f"global {name} sectors", {}).get("hardware", 0)
                   for name in ("load", "store", "atomic")}
        asked = sectors["load"] * times**3 + (sectors["store"] + sectors["atomic"]) * times**2
        if asked:
            found[match.group(1), match.group(2)] = 2 * n**3 / (SECTOR_BYTES * asked)
    return found
