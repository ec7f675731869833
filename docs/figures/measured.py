"""What an H200 reached and what kernels took there, from docs/results/h200: figures and widgets have no such number of
their own."""

import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
H200 = os.path.join(HERE, "..", "results", "h200")


def load(name):
    with open(os.path.join(H200, name), encoding="utf-8") as file:
        return json.load(file)


def ceiling(name):
    """The best that a loop of ceilings.json reached, in its unit."""
    (found,) = [one["best"] for one in load("ceilings.json")["ceilings"] if one["name"] == name and one["right"]]
    return found


def copy_bandwidth():
    """TB/s of a copy, read and write together."""
    return ceiling("copy") / 1000


def point(lab, experiment, variant, math, n, place):
    """One point of a sweep; a place is named by its label where it has one."""
    (found,) = [one for one in load(f"sweep-lab{lab}.json")["records"]
                if (one["experiment"], one["variant"], one["math"], one["n"]) == (experiment, variant, math, n)
                and place in (one["x"], one.get("label"))]
    return found


# What the calculator of occupancy offers: words, and the kernel as ptxas compiled it.
PRESETS = (
    ("Lab 1", (1, "side", "naive", "float", 4096, 16)),
    ("Lab 3, 128 × 128", (3, "size", "128 x 16, 8 x 8 per thread", "float", 2048, 2048)),
    ("Lab 4, 4.4", (4, "tile shape", "4.4, 3 stages", "float", 4096, "128 x 256")),
    ("Lab 5, 5.3", (5, "tile shape", "mma.sync, 3 stages", "half", 4096, "128x256, 64x64")),
)


def presets():
    found = []
    for label, where in PRESETS:
        one = point(*where)
        values = {"threads": one["threads"], "registers": one["registers"], "shared": one["static_shared"] + one["dynamic_shared"]}
        found.append({"label": label, "values": values})
    return found


def roofs():
    """TB/s, and TFLOP/s by path. A loop of wgmma was not measured, and mma.sync does not reach the tensor cores' peak."""
    return {"bandwidth": round(copy_bandwidth(), 3), "tflops": {"f32": round(ceiling("ffma"), 1), "f64": round(ceiling("dmma"), 1)}}
