#!/usr/bin/env python3
"""Compares the model of merged shared loads with what ptxas really made.

    check_load_merging.py --stats build/ptx_stats [--clang clang++-14 clang++-22] [--ptxas ptxas] [source.cu ...]

Compiles each source (default: register_kernels.cu, merging_kernels.cu and the labs' solutions) to PTX,
assembles it for sm_80, and counts the LDS instructions of each width in the machine code. Prints one line per
kernel that uses shared memory; exit code 1 if one of them differs. Differences are expected where ptxas unrolls a
loop of the PTX (its LDS then come several times).
"""
import argparse
import collections
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
DEFAULT = ["common/simgpu/tests/ptx/register_kernels.cu", "common/simgpu/tests/ptx/merging_kernels.cu"]
# Encoding of sm_80 machine code, 16 bytes an instruction: the opcode is in the lowest 12 bits, the width of a
# load in bits 73-75. Read off small probes assembled by ptxas.
LDS = 0x984
WIDTH = {0: 8, 1: 8, 2: 16, 3: 16, 4: 32, 5: 64, 6: 128}


def text_sections(cubin):
    """(kernel name, machine code) of an ELF file."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + i * size) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        start = strings + header[0]
        name = cubin[start:cubin.index(b"\0", start)].decode()
        if name.startswith(".text."):
            yield name[6:], cubin[header[4]:header[4] + header[5]]


def loads_in(cubin):
    for name, code in text_sections(cubin):
        widths = collections.Counter()
        for low, high in struct.iter_unpack("<QQ", code):
            if low & 0xFFF == LDS:
                widths[WIDTH[(high >> 9) & 7]] += 1
        yield name, widths


def compiled(source, folder):
    """A lab's file instantiates nothing itself: what is compiled is its translation unit (make build/bin/grader first)."""
    if not source.startswith("lab"):
        return source
    said = subprocess.run(["build/bin/grader", "unit", source], cwd=ROOT, capture_output=True, text=True, check=True)
    unit = folder / "unit.cu"
    unit.write_text(said.stdout)
    return str(unit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stats", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--clang", nargs="+", default=["clang++-14", "clang++-22"])
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    stats = str(pathlib.Path(args.stats).resolve())
    sources = args.sources or DEFAULT + sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("lab*/solution/gemm.cu"))
    kernels = differences = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in sources:
            for clang in args.clang:
                ptx = str(folder / "kernel.ptx")
                subprocess.run(["common/simgpu/simcc", "--ptx", compiled(source, folder), "-o", ptx], cwd=ROOT, check=True,
                               env={**os.environ, "CLANG": clang, "UNROLL": "all"})
                subprocess.run([args.ptxas, "-arch=sm_80", ptx, "-o", str(folder / "cubin")], check=True)
                sass = dict(loads_in((folder / "cubin").read_bytes()))
                out = subprocess.run([stats, ptx], capture_output=True, text=True, check=True).stdout
                for line in out.splitlines():
                    fields = line.split(",")
                    raw, model = int(fields[6]), dict(zip((16, 32, 64, 128), map(int, fields[7:11])))
                    if raw == 0:
                        continue
                    true = sass[fields[1]]
                    same = all(true[w] == model[w] for w in model)
                    kernels += 1
                    differences += not same
                    demangled = subprocess.run(["c++filt", fields[1]], capture_output=True, text=True).stdout
                    print(f"{clang:12} {re.sub(r'[(].*', '', demangled.strip()).removeprefix('void '):50} raw {raw:4}  "
                          f"model {[model[w] for w in model]}  SASS {[true[w] for w in model]}{'' if same else '  DIFFERS'}")
    print(f"{kernels} kernels, {differences} differ (widths in bits: 16, 32, 64, 128)")
    return differences != 0


if __name__ == "__main__":
    sys.exit(main())
