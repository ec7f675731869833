"""The bars of lab 6 (docs/data/bars.toml) beside the figures of a bench: met or missed, what bounds them, what was tried.
Standard library only."""

import tomllib

import results


class Cell:
    """A bar and its figure. `figure` is None while no bench has the shape."""

    def __init__(self, shape, bar, bound, tried, figure, stage):
        self.shape, self.bar, self.bound, self.tried, self.figure, self.stage = shape, bar, bound, tried, figure, stage

    @property
    def ratio(self):
        return results.middle(self.figure["over_cublas"])

    @property
    def interval(self):
        """The least and the most that the median may be; None if the bench says neither."""
        both = self.figure["over_cublas"]
        return (both[0], both[2]) if isinstance(both, list) else None

    @property
    def met(self):
        return self.ratio >= self.bar


def extents(name):
    """"512" and "64x8192x8192" as (M, N, K)."""
    sides = tuple(int(side) for side in name.split("x"))
    return sides * 3 if len(sides) == 1 else sides


def load(path):
    with open(path, "rb") as file:
        data = tomllib.load(file)
    kinds = {kind["name"]: kind for kind in data["type"]}
    for kind in data["type"]:
        if "like" in kind:
            other = kinds[kind["like"]]
            kind["cells"], kind["kernels"] = other["cells"], other["kernels"]
    return data


def judged(data, bench):
    """[(kind, [Cell])], each cell with the figure of the fastest of its kernels. Raises Unusable where a bar has no figure, or a
    name no note, and where a shape is called open that was measured."""
    found = {(r["rung"], r["math"], (r["m"], r["n"], r["k"])): r for r in bench["records"]
             if r["status"] == "measured" and "over_cublas" in r}
    kinds = []
    for kind in data["type"]:
        cells = []
        for shape, bar, *notes in kind["cells"]:
            for note in notes:
                if note not in data["notes"]:
                    raise results.Unusable(f"{kind['name']} at {shape}: there is no note '{note}'")
            here = [(found[rung, kind["math"], extents(shape)], stage) for stage, rung in kind["kernels"]
                    if (rung, kind["math"], extents(shape)) in found]
            if not here and shape not in data["open"]:
                raise results.Unusable(f"{kind['name']} at {shape}: a bar, and the bench has no figure")
            if here and shape in data["open"]:
                raise results.Unusable(f"{kind['name']} at {shape} is open and was measured: take it off the list")
            figure, stage = max(here, key=lambda one: results.middle(one[0]["over_cublas"]), default=(None, ""))
            cells.append(Cell(shape, bar, *(data["notes"][note] for note in notes), figure, stage))
        kinds.append((kind, cells))
    return kinds
