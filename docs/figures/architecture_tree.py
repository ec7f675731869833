"""The map: the folders of the repository and what depends on what."""

import textwrap

from svg import NARROW, Drawing

FOLDERS = (  # name, kind, what it holds
    ("lab1_naive/ ... lab6_summit/", "mark", "gemm.cu: what a student edits. lab.toml: stages and points. hints.md. goals.cpp: upper bounds "
     "on counts. solution/, mutants/, alternatives/: in the authors' tree only"),
    ("examples/", "mark", "CUDA programs of one's own, for make sim"),
    ("grader/", "panel", "make check: compile, judge, diagnose, report, explain, gpu, os. bench/: speed against cuBLAS. course/: for staff. "
     "author/: sweeps, calibration, proofs; never handed out"),
    ("common/", "panel", "matrices, reference product, error checks, timing: what labs and grader share"),
    ("common/simgpu/", "panel", "the simulated GPU: an engine, a CUDA runtime on it, headers for clang; includes of the rest only common/wire"),
    ("docs/", "plain", "this tutorial; results measured on hardware"),
    ("mk/, .ci/, .devcontainer/", "plain", "the Makefile's parts; what decides about a change; a machine to work on"),
)


def draw(narrow=False):
    width = NARROW if narrow else 760
    y, places, parts = 16, {}, []
    for name, kind, note in FOLDERS:
        notes = textwrap.wrap(note, 46 if narrow else 58)
        high = 46 + 18 * len(notes) if narrow else max(38, 18 * len(notes) + 14)
        parts.append((y, high, name, kind, notes))
        places[name] = y
        y += high + 14
    d = Drawing("architecture-tree", width, y + (44 if narrow else 26), "The repository and what depends on what",
                "Labs and the grader use common; the grader uses the simulated GPU; examples run on it; the simulated GPU includes of the "
                "rest only common/wire.")
    left, box = (16, width - 32) if narrow else (62, 250)
    for y, high, name, kind, notes in parts:
        d.box(left, y, box, 32, kind, name, 13)
        for line, words in enumerate(notes):
            d.text(left + 4 if narrow else left + box + 16, y + 50 + 18 * line if narrow else y + 20 + 18 * line, words, size=13)
    if not narrow:
        at = {name: y + 16 for name, y in places.items()}
        for x, (start, end) in ((48, ("lab1_naive/ ... lab6_summit/", "common/")), (34, ("grader/", "common/")), (20, ("grader/", "common/simgpu/"))):
            d.line(f"M{left} {at[start]}H{x}V{at[end]}H{left - 3}", "ink", 1.5, arrow=True)
        d.text(62, d.height - 14, "Arrows: includes. A lab never includes another lab.", "tmuted", 13)
    else:
        for i, words in enumerate(("Labs and grader include common/, the grader", "includes common/simgpu/; nothing goes back.")):
            d.text(16, d.height - 32 + 18 * i, words, "tmuted", 13)
    return d.svg()
