"""Where data lives on an H200: capacity and bandwidth of each level."""

from measured import copy_bandwidth
from svg import NARROW, Drawing

SMS, CLOCK = 132, 1.98e9  # multiprocessors, highest SM clock in Hz
LANES, OPERANDS, SHARED_PER_CLOCK = 128, 3, 128  # multiply-adds per cycle, operands each, bytes per cycle
HBM_MEASURED = round(copy_bandwidth(), 2)  # TB/s: a copy, read and write together; the data sheet says 4.8


def draw(narrow=False):
    registers = SMS * CLOCK * LANES * OPERANDS * 4 / 1e12
    shared = SMS * CLOCK * SHARED_PER_CLOCK / 1e12
    d = Drawing("memory-hierarchy", *((NARROW, 590) if narrow else (760, 372)), "Where data lives on an H200",
                f"Registers: 256 KiB per multiprocessor. Shared memory: 228 KiB per multiprocessor, {shared:.0f} TB/s in all. L2: 60 MB. "
                f"Global memory: 141 GB at {HBM_MEASURED} TB/s, measured on an H200.")
    d.text(16 if narrow else 24, 32, "nearer is faster, and smaller", size=16, bold=True)
    if not narrow:
        d.text(440, 32, "capacity", "tmuted", 13, bold=True)
        d.text(572, 32, "bandwidth, all SMs", "tmuted", 13, bold=True)
    rows = ((150, "registers", "a thread's own", "256 KiB per SM", f"{registers:.0f} TB/s", "derived: 3 operands per FMA"),
            (220, "shared memory", "seen by a block", "228 KiB per SM", f"{shared:.0f} TB/s", "derived: 128 B/cycle per SM"),
            (300, "L2 cache", "seen by all", "60 MB", "between the two", "not measured here"),
            (390, "global memory (HBM)", "seen by all, and by the host", "141 GB", f"{HBM_MEASURED} TB/s", "measured on an H200"))
    middle, step = (NARROW / 2, 110) if narrow else (219, 68)
    for i, (wide, name, who, capacity, bandwidth, source) in enumerate(rows):
        y = 52 + step * i
        wide = wide * (.83 if narrow else 1)
        d.rect(middle - wide / 2, y, wide, 48, "panel" if i else "mark", 1.5, radius=6)
        d.text(middle, y + 21, name, size=14, anchor="middle", bold=True)
        d.text(middle, y + 38, who, "tmuted" if i else "", 12.5, "middle")
        if narrow:
            d.text(middle, y + 66, f"{capacity}, {bandwidth}", size=14, anchor="middle", bold=True)
            d.text(middle, y + 83, source, "tmuted", 13, "middle")
        else:
            d.text(440, y + 20, capacity, size=14)
            d.text(572, y + 20, bandwidth, size=14, bold=True)
            d.text(572, y + 38, source, "tmuted", 12)
            if i:
                d.line(f"M219 {y - 3}V{y - 17}", "ink", 1.5, arrow=True)
    peak = SMS * CLOCK * LANES * 2 / 1e12
    ridge = peak / HBM_MEASURED
    if narrow:
        for i, words in enumerate((f"{SMS} multiprocessors (SM) at up to 1.98 GHz:", f"{peak:.1f} TFLOP/s in FP32. From global memory", f"alone, each byte would have to feed {ridge:.1f} FLOP;", "a multiply-add of two fresh floats makes 0.25.")):
            d.text(16, 514 + 19 * i, words, size=14)
    else:
        d.text(24, 338, f"{SMS} multiprocessors (SM) at up to 1.98 GHz: {peak:.1f} TFLOP/s in FP32. From global memory alone,", size=13)
        d.text(24, 356, f"each byte would have to feed {ridge:.1f} FLOP; a multiply-add of two fresh floats makes 0.25.", size=13)
    return d.svg()
