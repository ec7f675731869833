"""CUDA in ten minutes: the host, the device, and what lies where."""

from svg import NARROW, Drawing


def block(d, x, y, wide, name):
    """A block: its shared memory, and four of its threads, each with registers."""
    d.rect(x, y, wide, 118, "panel", 1.5, radius=6)
    d.text(x + 8, y + 19, name, size=13.5, bold=True)
    d.box(x + 8, y + 28, wide - 16, 28, "cell", "shared memory", 13, False)
    step = (wide - 16) / 4
    for i in range(4):
        d.rect(x + 8 + i * step, y + 64, step - 3, 28, "mark", radius=3)
        d.text(x + 8 + i * step + (step - 3) / 2, y + 83, f"t{i}", size=13, anchor="middle")
    d.text(x + wide / 2, y + 110, "threads, with registers", "tmuted", 12.5, "middle")


def host(d, x, y, wide):
    d.rect(x, y, wide, 214, "frame", 1.5, 8, dash="5 4")
    d.text(x + 12, y + 22, "host: the CPU", size=14, bold=True)
    d.box(x + 12, y + 36, wide - 24, 34, "panel", "main()", 14)
    d.rect(x + 12, y + 118, wide - 24, 82, "cell", 1.5, radius=6)
    d.text(x + wide / 2, y + 140, "host memory", size=13.5, anchor="middle", bold=True)
    for i, words in enumerate(("std::vector<float> a, b, c", "new, malloc")):
        d.text(x + wide / 2, y + 163 + 20 * i, words, size=13, anchor="middle")


def device(d, x, y, wide):
    d.rect(x, y, wide, 290, "frame", 1.5, 8, dash="5 4")
    d.text(x + 12, y + 22, "device: the GPU", size=14, bold=True)
    half = (wide - 36) / 2
    block(d, x + 12, y + 36, half, "block 0")
    block(d, x + 24 + half, y + 36, half, "block 1")
    d.rect(x + 12, y + 194, wide - 24, 82, "cell", 1.5, radius=6)
    d.text(x + wide / 2, y + 216, "global memory: every thread sees it", size=13.5, anchor="middle", bold=True)
    for i, words in enumerate(("device_a, device_b, device_c", "cudaMalloc, cudaFree")):
        d.text(x + wide / 2, y + 239 + 20 * i, words, size=13, anchor="middle")
    for i in range(2):
        middle = x + 12 + half / 2 + i * (half + 12)
        d.line(f"M{middle} {y + 191}V{y + 158}", "ink", 1.5, arrow=True)
        d.line(f"M{middle + 14} {y + 157}V{y + 190}", "ink", 1.5, arrow=True)


def draw(narrow=False):
    d = Drawing("cuda-program", *((NARROW, 622) if narrow else (760, 336)), "Host and device",
                "The host runs main and has a memory of its own. The device runs kernels: a grid of blocks, each with shared memory, each thread "
                "with registers, all with the device's global memory. A launch goes from host to device; cudaMemcpy copies between the two memories.")
    if narrow:
        host(d, 16, 14, 328)
        d.line("M34 230V316", "ink", 2, arrow=True)
        d.text(46, 268, "add<<<2, 4>>>", size=14, bold=True)
        d.text(46, 287, "starts a kernel", "tmuted", 13.5)
        d.line("M206 314V232", "ink", 2, arrow=True)
        d.line("M220 230V316", "ink", 2, arrow=True)
        d.text(232, 277, "cudaMemcpy", size=14, bold=True)
        device(d, 16, 318, 328)
        return d.svg()
    host(d, 20, 60, 220)
    device(d, 390, 22, 350)
    d.line("M228 113H386", "ink", 2, arrow=True)
    d.text(310, 103, "add<<<2, 4>>>", size=14, anchor="middle", bold=True)
    d.text(310, 133, "starts a kernel", "tmuted", 13, "middle")
    d.line("M232 222H396", "ink", 2, arrow=True)
    d.line("M398 254H236", "ink", 2, arrow=True)
    d.text(314, 212, "cudaMemcpy", size=14, anchor="middle", bold=True)
    d.text(314, 278, "there and back", "tmuted", 13, "middle")
    return d.svg()
