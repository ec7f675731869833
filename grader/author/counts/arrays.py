#!/usr/bin/env python3
"""How often simcc leaves a local array in memory where nvcc does, on 61 probes: flags/arrays-*.rsp is set by it.

    arrays.py [--clang clang++-22 ...]    needs nvcc, but no GPU

The front end decides: it keeps an array in registers if it unrolls every loop over it, and unrolls up to some size. A
probe is one kernel; the product of its numbers is the size of its loops.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def outer(p, q, d):
    """d outer products of p and q elements, summed."""
    return f"""(const float* a, float* c) {{
  float sums[{p * q}] = {{}};
  for (int d = 0; d < {d}; ++d)
    for (int i = 0; i < {p}; ++i)
      for (int j = 0; j < {q}; ++j) sums[{q} * i + j] += a[{p} * d + i] * a[{q} * d + j];
  for (int i = 0; i < {p * q}; ++i) c[i] = sums[i];
}}"""


def tile(p, q, d):
    """The same out of shared memory, in a loop of unknown length."""
    return f"""(const float* a, float* c, int n) {{
  __shared__ float s[{d}][{max(p, q)}];
  float sums[{p}][{q}] = {{}};
  for (int t = 0; t < n; ++t) {{
    s[threadIdx.x % {d}][threadIdx.x / {d}] = a[t * 64 + threadIdx.x];
    __syncthreads();
    for (int d = 0; d < {d}; ++d)
      for (int i = 0; i < {p}; ++i)
        for (int j = 0; j < {q}; ++j) sums[i][j] += s[d][i] * s[d][j];
    __syncthreads();
  }}
  for (int i = 0; i < {p}; ++i)
    for (int j = 0; j < {q}; ++j) c[i * {q} + j] = sums[i][j];
}}"""


def attention(e, terms):
    """e sums, each scaled and given an inner product of `terms` terms in every step."""
    return f"""(const float* v, float* c, int n) {{
  __shared__ float s[32][{terms + 1}], values[{terms}][{e + 1}];
  float sums[{e}];
  const int t = threadIdx.x;
  for (int x = 0; x < {e}; ++x) sums[x] = 0;
  for (int j = 0; j < n; ++j) {{
    for (int x = 0; x < {e}; ++x) values[t % {terms}][x] = v[j * 32 + x];
    for (int x = 0; x < {terms}; ++x) s[t][x] = v[j + x];
    __syncthreads();
    for (int x = 0; x < {e}; ++x) {{
      float sum = 0;
      for (int y = 0; y < {terms}; ++y) sum += s[t][y] * values[y][x];
      sums[x] = sums[x] * 2 + sum;
    }}
    __syncthreads();
  }}
  for (int x = 0; x < {e}; ++x) c[t * {e} + x] = sums[x];
}}"""


def passes(e):
    """A softmax: three passes over one array."""
    return f"""(const float* a, float* c, int n) {{
  float x[{e}];
  for (int i = 0; i < {e}; ++i) x[i] = a[threadIdx.x + i * n];
  float top = -1e30f, sum = 0;
  for (int i = 0; i < {e}; ++i) top = fmaxf(top, x[i]);
  for (int i = 0; i < {e}; ++i) {{ x[i] = expf(x[i] - top); sum += x[i]; }}
  for (int i = 0; i < {e}; ++i) c[threadIdx.x + i * n] = x[i] / sum;
}}"""


def bubble(e):
    return f"""(float* a) {{
  float x[{e}];
  for (int i = 0; i < {e}; ++i) x[i] = a[threadIdx.x * {e} + i];
  for (int i = 0; i < {e}; ++i)
    for (int j = 0; j + 1 < {e} - i; ++j)
      if (x[j] > x[j + 1]) {{ const float t = x[j]; x[j] = x[j + 1]; x[j + 1] = t; }}
  for (int i = 0; i < {e}; ++i) a[threadIdx.x * {e} + i] = x[i];
}}"""


def prefix(e):
    return f"""(const int* a, int* c) {{
  int x[{e}];
  for (int i = 0; i < {e}; ++i) x[i] = a[threadIdx.x * {e} + i];
  for (int i = 1; i < {e}; ++i) x[i] += x[i - 1];
  for (int i = 0; i < {e}; ++i) c[threadIdx.x * {e} + i] = x[i];
}}"""


PROBES = {
    outer: [(4, 4, 8), (8, 4, 8), *((8, 8, d) for d in (4, 8, 16, 32)), *((16, 8, d) for d in (4, 8, 16)),
            *((16, 16, d) for d in (4, 5, 6, 7, 8, 9, 12, 16)), (12, 12, 8), (12, 12, 16)],
    tile: [(4, 4, 16), *((8, 8, d) for d in (8, 16, 32)), *((16, 8, d) for d in (8, 16)), *((16, 16, d) for d in (4, 8, 16))],
    attention: [*((8, t) for t in (8, 16, 32)), *((16, t) for t in (16, 32, 64)), *((32, t) for t in (8, 16, 24, 32)),
                *((64, t) for t in (8, 16, 32)), (128, 8)],
    passes: [(e,) for e in (8, 16, 32, 48, 64, 96, 128, 160, 200, 256)],
    bubble: [(e,) for e in (4, 8, 16, 32)],
    prefix: [(e,) for e in (16, 32, 64, 128, 200)],
}


def in_memory(command, files, **more):
    """name -> whether this compiler leaves the probe's array in memory."""

    def of(file):
        ptx = file.with_suffix(".ptx")
        subprocess.run([*command, str(file), "-o", str(ptx)], cwd=ROOT, check=True, stdin=subprocess.DEVNULL, **more)
        return ".local" in ptx.read_text()

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(files, pool.map(of, files.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clang", nargs="+", default=["clang++-14", "clang++-22"])
    args = parser.parse_args()
    nvcc = os.environ.get("NVCC", "nvcc")
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for make, sizes in PROBES.items():
            for size in sizes:
                name = f"{make.__name__} {' x '.join(map(str, size))}"
                files[name] = pathlib.Path(folder) / f"probe{len(files)}.cu"
                files[name].write_text(f'extern "C" __global__ void probe{make(*size)}\n')
        theirs = in_memory([nvcc, "-O3", "-arch=sm_90", "-ptx"], files)
        for clang in args.clang:
            ours = in_memory(["common/simgpu/simcc", "--ptx"], files, env={**os.environ, "CLANG": clang})
            other = [f"{name} ({'memory' if theirs[name] else 'registers'} with nvcc)" for name in files if ours[name] != theirs[name]]
            print(f"{clang}: {len(files) - len(other)} of {len(files)} as nvcc" + "".join(f"\n  {name}" for name in other))


main()
