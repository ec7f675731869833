#!/usr/bin/env python3
"""report.py: one page from a student's own results, build/report/report.html.

It reads what `make bench` and the simulated GPU left in the build folder, and
predictions.toml. Whatever is not there is named, with the command that makes it. The page is one
file: no script, no request, pictures inside.
"""

import argparse
import base64
import glob
import hashlib
import html
import json
import os
import pathlib
import string
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import results as R  # noqa: E402

try:
    import drawing  # first: bench_plots says itself what is missing, and so does this page
    import bench_plots
except ImportError:
    drawing = None


def beside(name):
    """The text of a file of this folder: report.html with its gaps $style, $version and $parts, report.css."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()


def e(value):
    return html.escape(str(value), quote=True)


def number(value):
    return f"{value:,.0f}".replace(",", "\u2009") if abs(value) >= 1000 else f"{value:.3g}"


def paragraph(text, kind=""):
    return f'<p{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{text}</p>'


def missing(what, command):
    return paragraph(f"{e(what)} Next: <code>{e(command)}</code>")


def table(head, rows, caption="", text_columns=(0,)):
    def cell(tag, index, value):
        return f'<{tag}{" class=text" if index in text_columns else ""}>{value}</{tag}>'
    lines = ['<div class="wide" tabindex="0" role="region" aria-label="table"><table>']
    if caption:
        lines.append(f"<caption>{e(caption)}</caption>")
    lines.append("<thead><tr>" + "".join(cell("th", i, e(h)) for i, h in enumerate(head)) + "</tr></thead><tbody>")
    for row in rows:
        lines.append("<tr>" + "".join(cell("td", i, value) for i, value in enumerate(row)) + "</tr>")
    lines.append("</tbody></table></div>")
    return "\n".join(lines)


def picture(svg, words):
    data = base64.b64encode(svg.encode()).decode()
    return f'<figure><img alt="{e(words)}" src="data:image/svg+xml;base64,{data}"></figure>'


# ---- what is there

def explain_all(root, build, grader):
    """{lab: JSON of `grader explain`}, and reasons why labs are not in it. Cached by content."""
    found, troubles = {}, []
    folder = os.path.join(build, "report")
    os.makedirs(folder, exist_ok=True)
    for lab in sorted(glob.glob(os.path.join(root, "lab[0-9]*_*", "gemm.cu"))):
        name = os.path.basename(os.path.dirname(lab))
        lab_id = name[3:].split("_")[0]
        with open(lab, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()[:16]
        path = os.path.join(folder, f"counts-lab{lab_id}-{digest}.json")
        if not os.path.exists(path):
            try:
                ran = subprocess.run([grader, "--root", root, "--build", build, "explain", "--lab", lab_id, "--json", path,
                                      "--out", os.path.join(folder, f"explain-lab{lab_id}.html")],
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                troubles.append(f"{name}: {error}")
                continue
            if not os.path.exists(path):
                said = (ran.stderr or ran.stdout).strip().splitlines()
                troubles.append(f"{name}: {said[-1] if said else 'no counts'}")
                continue
        try:
            with open(path, encoding="utf-8") as file:
                found[lab_id] = json.load(file)
        except (OSError, ValueError) as error:
            troubles.append(f"{name}: {error}")
    return found, troubles


def own_intensities(counts, n):
    """As results.intensities, from the student's own counts."""
    found = {}
    for lab in counts.values():
        for rung in lab["rungs"]:
            if rung["state"] != "right" or rung["shape"][0] != rung["shape"][1]:
                continue
            times = n / rung["shape"][0]
            loads = sum(b["load_sectors"] for b in rung["buffers"])
            stores = sum(b["store_sectors"] + b["atomic_sectors"] for b in rung["buffers"])
            asked = loads * times**3 + stores * times**2
            if asked:
                found[rung["name"], rung["type"]] = 2 * n**3 / (R.SECTOR_BYTES * asked)
    return found


# ---- parts of the page

def ladder_part(bench, svgs):
    if not bench or not any(r["status"] == "measured" for r in bench["records"]):
        return missing("No speeds are measured: that needs an NVIDIA GPU and nvcc.", "make bench")
    n = R.best_square(bench)
    parts = []
    if "ladder.svg" in svgs:
        parts.append(picture(svgs["ladder.svg"], f"Percent of cuBLAS, rung by rung, at {n}: the table below has the numbers"))
    rows = []
    for r in R.measured(bench, n=n):
        share, naive = r.get("over_cublas"), r.get("over_naive")
        rows.append([f"{e(r['lab'])} {e(r['rung'])}", e(R.MATH_NAMES[r["math"]]), f"{r['ms']:.4g}", f"{r['tflops']:.3g}",
                     f"{r['percent_of_cublas']:.1f}" if share else "–",
                     f"{100 * share[0]:.1f} … {100 * share[2]:.1f}" if isinstance(share, list) else "–",
                     f"{R.middle(naive):.3g}" if naive else "–", e(r.get("mhz", "–")), *(f"{r[key][0]:.2g} ({r[key][1]:.2g})" if key in r else "–" for key in ("errors", "cublas_errors"))])
    parts.append(table(["rung", "type", "ms", "TFLOP/s", "% of cuBLAS", "95 % interval", "× naive", "MHz", "error", "cuBLAS's"], rows,
                       f"At {n} × {n} × {n}. Errors: the worst (and the mean) in u(|A||B|). {R.provenance_line(bench)}."))
    bad = [r for r in bench["records"] if r["status"] in ("wrong", "failed")]
    if bad:
        names = sorted({f"{r['rung']}<{r['type']}> at {R.shape_name(r)}" for r in bad})
        parts.append(paragraph(f'<span class="mark">Not timed, because the result was wrong:</span> {e(", ".join(names))}.'))
    return "\n".join(parts)


def roofline_part(bench, ceilings, counts, svgs):
    if "roofline.svg" in svgs:
        return paragraph("How many operations a kernel does for each byte that it asks of global memory, and how fast it is. "
                         "A point far below the line above it has another limit than memory or arithmetic: latency, "
                         "instructions, bank conflicts.") + picture(svgs["roofline.svg"], "Roofline with your rungs as points")
    lacks = []
    if not bench or not any(r["status"] == "measured" for r in bench["records"]):
        lacks.append("measured speeds")
    if not ceilings:
        lacks.append("what the GPU can do at most (ceilings.json)")
    if not counts:
        lacks.append("counts of the simulated GPU")
    if drawing is None:
        lacks.append("matplotlib")
    parts = [paragraph("The roofline needs " + e(", ".join(lacks) or "a rung that is right, measured and counted") + ".")]
    rows = [[e(name), e(kind), f"{value:.3g}"] for (name, kind), value in sorted(own_intensities(counts, 4096).items())]
    if rows:
        parts.append(table(["rung", "type", "operations per byte"], rows,
                           "What your kernels ask of global memory at n = 4096, from the simulated GPU's counts at 256"))
    return "\n".join(parts)


def predictions_part(bench):
    given = {p["stage"]: p for p in (bench or {}).get("predictions", [])}
    if not given:
        return paragraph("No predictions. Write what you expect into <code>predictions.toml</code> before you measure a rung "
                         "for the first time: a wrong guess is what you learn from. <code>make bench</code> reads it.")
    rows = []
    for r in R.measured(bench, n=4096):
        if r.get("stage") not in given or "percent_of_cublas" not in r or r["type"] not in ("float", "half", "double"):
            continue
        p = given.pop(r["stage"])
        factor = r["percent_of_cublas"] / p["percent"] if p["percent"] else float("inf")
        after = p["seen"] > r.get("first_measured", r.get("date", ""))
        words = "as predicted" if 0.8 <= factor <= 1.25 else f"{factor:.2g} × as fast" if factor > 1 else f"{1 / factor:.2g} × slower"
        mark = '<span class="mark">given after the run</span>' if after else "before the run"
        rows.append([f"{e(r['stage'])} {e(r['rung'])}", f"{p['percent']:.3g}", f"{r['percent_of_cublas']:.1f}", e(words), mark])
    parts = []
    if rows:
        parts.append(table(["stage", "predicted, %", "measured, %", "", "prediction"], rows, "Percent of cuBLAS at 4096",
                           text_columns=(0, 3, 4)))
    if given:
        parts.append(paragraph(f"Not measured yet: {e(', '.join(sorted(given)))}."))
    return "\n".join(parts)


# ---- two questions

def traffic_question(counts):
    """(weight, question, answer): a buffer that is loaded more often than it is large."""
    best = None
    for lab in counts.values():
        for rung in lab["rungs"]:
            if rung["state"] != "right":
                continue
            m, n, k = rung["shape"]
            for buffer in rung["buffers"]:
                label, whole = buffer["label"], buffer["bytes"] / R.SECTOR_BYTES
                if label not in ("A", "B") or not whole or not k:
                    continue
                times = buffer["load_sectors"] / whole
                if times > 1.5 and (best is None or times > best[0]):
                    best = (times, rung, label, buffer, whole, m if label == "B" else n)
    if not best:
        return None
    times, rung, label, buffer, whole, extent = best
    lines, across = ("rows", "row") if label == "B" else ("columns", "column")
    question = (f"<code>{e(rung['name'])}&lt;{e(rung['type'])}&gt;</code> at {'×'.join(map(str, rung['shape']))} loaded {label} in "
                f"<b>{number(buffer['load_sectors'])}</b> sectors of 32 bytes. {label} has {number(buffer['bytes'])} bytes. "
                f"Why so many? Which of your lines decides it?")
    answer = (f"{label} fills {number(whole)} sectors, so it was loaded {times:.3g} times over. Every one of the {extent} {lines} of C "
              f"needs all of {label}; one pass over {label} therefore served {extent} / {times:.3g} = {extent / times:.3g} {lines} of C. "
              + (f"Less than one: lanes of a warp asked for sectors of which they used only a part, or several warps of a {across} "
                 f"asked for the same." if extent / times < 1 else
                 f"That is how many {lines} share a value once it has been loaded: by the lanes of a warp that ask together, the "
                 f"outputs that a thread keeps in registers, or the block that shares a tile. What shares more, loads less."))
    return question, answer


def cost_of(worst):
    """Wavefronts of a shared access, sectors of a global one."""
    return worst["wavefronts"] if "wavefronts" in worst else worst["sectors"]


def lane_question(counts):
    """A line whose requests cost more than they must, with the lanes that make it so."""
    best = None
    for lab in counts.values():
        for rung in lab["rungs"]:
            if rung["state"] != "right":
                continue
            for site in rung["sites"]:
                waste = cost_of(site["worst"]) / max(site["worst"]["ideal"], 1) * (site["requests"] > 0)
                if waste > 1.2 and (best is None or waste > best[0]):
                    best = (waste, lab, rung, site)
    if not best:
        return None
    _, lab, rung, site = best
    shared, worst = site["space"] == "shared", site["worst"]
    unit = "wavefronts" if shared else "sectors"
    what = site["object"] or (f"matrix {site['matrix']}" if site["matrix"] else "memory")
    question = (f"<code>{e(lab['file'])}:{e(site['line'])}</code>, in <code>{e(rung['name'])}</code>: a {e(site['access'])} of {e(what)} took "
                f"<b>{cost_of(worst)}</b> {unit} for one request of a warp; {worst['ideal']} would do. "
                f"Which lanes get in each other's way?")
    offsets = [(lane["lane"], lane["offset"]) for lane in worst["lanes"]]
    if shared and offsets:
        banks = {}
        for lane, offset in offsets:
            banks.setdefault(offset // 4 % 32, {}).setdefault(offset // 4, []).append(lane)
        bank, words = max(banks.items(), key=lambda item: len(item[1]))
        lanes = sorted(lane for group in words.values() for lane in group)
        answer = (f"{len(words)} different words lie in bank {bank}: lanes {', '.join(map(str, lanes))} want them, and a bank gives one "
                  f"word at a time. Lanes 0 and 1 are {abs(offsets[1][1] - offsets[0][1]) if len(offsets) > 1 else 0} bytes apart; "
                  f"the bank of an address is (address / 4) mod 32.")
    elif offsets:
        sectors = {offset // R.SECTOR_BYTES for _, offset in offsets}
        step = abs(offsets[1][1] - offsets[0][1]) if len(offsets) > 1 else 0
        answer = (f"Lanes 0 and 1 are {step} bytes apart, and all of the warp touches {len(sectors)} sectors. {len(offsets)} lanes of "
                  f"{site['bytes']} bytes each need {len(offsets) * site['bytes']} bytes, which fit into {worst['ideal']}: neighbouring "
                  f"lanes should ask for neighbouring elements.")
    else:
        answer = "The page of make explain draws the lanes of this line."
    return question, answer


def balance_question(counts):
    best = None
    for lab in counts.values():
        for rung in lab["rungs"]:
            total = rung["total"]
            if rung["state"] == "right" and total["multiply_adds"] and total["sectors"]:
                ratio = total["multiply_adds"] / total["sectors"]
                if best is None or ratio > best[0]:
                    best = (ratio, rung)
    if not best:
        return None
    ratio, rung = best
    question = (f"<code>{e(rung['name'])}&lt;{e(rung['type'])}&gt;</code> did {number(rung['total']['multiply_adds'])} multiply-adds and asked "
                f"for {number(rung['total']['sectors'])} sectors. Is it nearer to the limit of arithmetic or to that of memory?")
    per_byte = 2 * ratio / R.SECTOR_BYTES
    answer = (f"{per_byte:.3g} operations per byte. Divide your GPU's peak (operations per second) by its memory's bytes per second: "
              f"below that number, memory would be the limit if no cache helped; above it, arithmetic. On an H200 in FP32 it is about 15.")
    return question, answer


def questions_part(counts, troubles):
    found = [q for q in (traffic_question(counts), lane_question(counts), balance_question(counts)) if q][:2]
    parts = []
    for question, answer in found:
        parts.append(f"<p>{question}</p>\n<details><summary>One answer</summary><p>{answer}</p></details>")
    if len(found) < 2:
        parts.append(missing("Questions are drawn from kernels that compute the right result; there are too few yet.", "make check"))
    for trouble in troubles:
        parts.append(paragraph(f"No counts of {e(trouble)}", "dim"))
    return "\n".join(parts)


def page(root, build, bench, ceilings, counts, troubles):
    svgs = {}
    if bench and drawing is not None:
        svgs = bench_plots.plots(bench, ceilings, own_intensities(counts, R.best_square(bench) or 4096))
    rates = [name for name in svgs if name.startswith("rates-")]
    where = R.provenance_line(bench) if bench else "no GPU: counts of the simulated GPU only"
    parts = [paragraph(e(where), "dim")]
    if drawing is None:
        parts.append(paragraph("There are no plots: matplotlib is not installed (<code>sudo apt-get install "
                               "python3-matplotlib</code>, or <code>pip install matplotlib</code>)."))
    parts += ["<h2>The ladder</h2>", ladder_part(bench, svgs)]
    parts += ["<h2>Under the roof</h2>", roofline_part(bench, ceilings, counts, svgs)]
    if rates:
        parts.append("<h2>Over size</h2>")
        parts += [picture(svgs[name], f"TFLOP/s over size, {name[6:-4]}") for name in rates]
    parts += ["<h2>What you predicted</h2>", predictions_part(bench)]
    parts += ["<h2>Explain this count</h2>", questions_part(counts, troubles)]
    return string.Template(beside("report.html")).substitute(
        style=beside("report.css"), version=e(version()), parts="\n".join(parts))


def version():
    return (pathlib.Path(__file__).resolve().parents[2] / "VERSION").read_text(encoding="utf-8").strip()


def main():
    parser = argparse.ArgumentParser(description="Writes one page from a student's own results.")
    parser.add_argument("--root", default=".", help="the project's folder")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--bench", help="default: bench/bench.json in the build folder")
    parser.add_argument("--counts", help="folder with counts-labN-*.json instead of running grader explain")
    parser.add_argument("--grader", help="default: bin/grader in the build folder")
    parser.add_argument("--out", help="default: report/report.html in the build folder")
    options = parser.parse_args()
    bench_file = options.bench or os.path.join(options.build, "bench", "bench.json")
    bench = ceilings = None
    try:
        if os.path.exists(bench_file):
            bench = R.load(bench_file, "bench")
            ceilings = R.beside(bench_file, "ceilings.json", "ceilings")
    except R.Unusable as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    if options.counts:
        counts, troubles = {}, []
        for path in sorted(glob.glob(os.path.join(options.counts, "counts-lab*.json"))):
            with open(path, encoding="utf-8") as file:
                counts[os.path.basename(path)] = json.load(file)
    else:
        counts, troubles = explain_all(options.root, options.build, options.grader or os.path.join(options.build, "bin", "grader"))
    out = options.out or os.path.join(options.build, "report", "report.html")
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    text = page(options.root, options.build, bench, ceilings, counts, troubles)
    temporary = out + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, out)
    if drawing is None:
        print("No plots: matplotlib is not installed (sudo apt-get install python3-matplotlib, or pip install matplotlib).")
    if not bench:
        print("No speeds yet; with an NVIDIA GPU: make bench")
    print(f"written: {out}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as problem:  # a damaged file of counts, a folder that cannot be written to
        print(f"error: no report: {problem}", file=sys.stderr)
        sys.exit(3)
