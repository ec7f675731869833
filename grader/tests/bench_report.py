#!/usr/bin/env python3
"""Helper of bench_report_test.sh.

  bench_report.py fixture FOLDER            bench.json and ceilings.json of a GPU that does not exist
  bench_report.py svg FILE PREFIX COUNT     well-formed, and COUNT elements whose id begins with PREFIX
  bench_report.py page FILE WORDS...        HTML that asks for nothing outside and holds the words
"""

import html.parser
import json
import os
import sys
import xml.etree.ElementTree as ElementTree

RUNGS = (  # lab, stage, rung, types, TFLOP/s
    (1, "1.2", "gemm_naive", ("float", "double", "int32"), 6.2),
    (2, "2.2", "gemm_clamped_tile", ("float", "double", "int32"), 21.0),
    (2, "2.3", "gemm_interleaved_tile", ("float", "double", "int32"), 17.0),
    (3, "3.3", "gemm_block_tile", ("float", "double", "int32"), 28.0),
    (5, "5.3", "gemm_mma", ("half", "bfloat16"), 300.0),
)
SIZES = (256, 1024, 4096)


def fixture(folder):
    os.makedirs(folder, exist_ok=True)
    machine = {"gpu": "Imaginary 1", "driver": "1.2", "cuda": "13.0", "cublas": "13.1.0", "arch": "sm_90"}
    records, yardsticks = [], []
    for n in SIZES:
        for lab, stage, rung, types, rate in RUNGS:
            for kind in types:
                library = 700.0 if lab == 5 else 50.0
                speed = rate * n / 4096 if n < 4096 else rate
                record = {"lab": lab, "stage": stage, "rung": rung, "type": kind, "math": kind, "m": n, "n": n, "k": n,
                          "status": "measured", "ms": 2e-9 * n**3 / speed, "over_naive": speed / 5,
                          "mhz": 1980, "rounds": 4, "launches": 9, "verified": True, "source_sha256": "0",
                          "date": "2026-11-21T12:00:00Z", "first_measured": "2026-11-21T12:00:00Z"}
                if kind != "int32":
                    share = speed / library
                    record.update(over_cublas=[share - 0.01, share, share + 0.01], errors=[1.234, 0.0678], cublas_errors=[5.678, 0.281])
                records.append(record)
                if not any(y["math"] == kind and y["n"] == n for y in yardsticks):
                    one = {"math": kind, "m": n, "n": n, "k": n, "status": "measured", "rounds": 4, "naive_ms": 2e-9 * n**3 / 5}
                    if kind != "int32":
                        one.update(cublas_ms=2e-9 * n**3 / library)
                    yardsticks.append(one)
    records.append({"lab": 3, "rung": "gemm_tiled", "type": "float", "math": "float", "m": 4096, "n": 4096, "k": 4096,
                    "status": "wrong", "note": "</style><script>alert(1)</script>", "source_sha256": "0"})
    bench = {"schema": 2, "kind": "bench", "machine": machine, "provenance": {"date": "2026-11-21T12:00:00Z"},
             "records": records, "yardsticks": yardsticks, "cpu": [],
             "predictions": [{"stage": "1.2", "percent": 12, "seen": "2026-11-20T00:00:00Z"},
                             {"stage": "3.3", "percent": 56, "seen": "2026-11-22T00:00:00Z"}]}
    values = {"copy": 4000, "shared": 30000, "launch": 3, "ffma": 64, "dfma": 30, "imad": 30, "dmma": 66,
              "hmma_bf16": 640, "hmma_f16": 640, "hmma_tf32": 320, "wgmma_bf16": 900, "wgmma_f16": 900, "wgmma_tf32": 450}
    ceilings = {"schema": 2, "kind": "ceilings", "machine": machine,
                "ceilings": [{"name": k, "median": v, "best": v, "unit": "?", "right": True} for k, v in values.items()]}
    for name, data in (("bench", bench), ("ceilings", ceilings)):
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(data, file)


def svg(path, prefix, count):
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg"), root.tag
    found = {x.get("id") for x in root.iter() if (x.get("id") or "").startswith(prefix)}
    assert len(found) == int(count), f"{len(found)} elements {prefix}*: {sorted(found)}"
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                assert value.startswith("#"), f"a link to {value}"
    with open(path, encoding="utf-8") as file:
        assert "#000000" not in file.read(), "black ink: unreadable on a dark page"


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.words, self.outside, self.scripts = [], [], 0

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        for key, value in attributes:
            if key in ("src", "href", "action", "data", "srcset", "poster") and not (value or "").startswith(("data:", "#")):
                self.outside.append(value)

    def handle_data(self, data):
        self.words.append(data)


def page(path, *wanted):
    reader = Reader()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    reader.feed(text)
    assert not reader.outside, f"asks for {reader.outside}"
    assert reader.scripts == 0, "has a script"
    assert "@import" not in text and "url(" not in text, "style asks for files"
    words = " ".join(" ".join(reader.words).split())
    for one in wanted:
        assert one in words, f"no {one!r} in: {words[:3000]}"


if __name__ == "__main__":
    {"fixture": fixture, "svg": svg, "page": page}[sys.argv[1]](*sys.argv[2:])
