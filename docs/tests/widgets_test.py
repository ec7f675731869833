#!/usr/bin/env python3
"""widgets_test.py BROWSER FOLDER: the widgets of docs/widgets and the figures of docs/figures in headless Chromium.

Prints "ok NAME" or "FAILED NAME: why" for each fact. FOLDER holds what widgets_test.sh had others count: reference.json,
toolkit.json (optional) and the counters of some runs (run-*.txt). Everything is opened by file://, with all of the network
behind a proxy that is not there.
"""

import csv
import glob
import json
import os
import re
import sys
import time
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "grader", "tests"), os.path.join(HERE, "..", "figures")]

import measured  # noqa: E402
from browser import THEMES, axe_source, browser, check, look, requests, violations  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
DEMO = "file://" + os.path.join(ROOT, "docs", "widgets", "demo.html")
MEASURED = os.path.join(ROOT, "common", "simgpu", "tests", "data", "hopper_shared_wavefronts.csv")
TAGS = ("bank-explorer", "coalescing-explorer", "tile-walk", "register-reuse", "roofline-chart", "occupancy-calculator", "latency-hiding")
WIDTHS = (1280, 768, 360)

# Fields of a widget by name, set as a hand would: value, then the events that follow.
FILL = """
const widget = document.querySelector(arguments[0]);
for (const [name, value] of Object.entries(arguments[1])) {
  const input = widget.querySelector(`[name="${name}"]`);
  if (input.type === 'checkbox') input.checked = value; else input.value = value;
  input.dispatchEvent(new Event('input', { bubbles: true }));
}
return widget.querySelector('.w-result').textContent.replaceAll('\\u202f', '');
"""


def fill(driver, tag, **values):
    return driver.execute_script(FILL, tag, values)


def said(driver, tag):
    return driver.find_element(By.CSS_SELECTOR, f"{tag} .w-result").get_attribute("textContent").replace("\u202f", "")


def rows_of(driver, tag, fold):
    """The table behind a fold, by row headings."""
    return driver.execute_script(
        """const fold = [...document.querySelectorAll(arguments[0] + ' details')][arguments[1]];
        return Object.fromEntries([...fold.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent.replaceAll('\\u202f', '')))
          .map(([head, ...cells]) => [head, cells]))""", tag, fold)


def check_models(driver, folder):
    """The models against other people's counts."""
    with open(MEASURED, encoding="utf-8") as file:
        measured = list(csv.DictReader(file))
    check("106 measured rows are there", len(measured) == 106, len(measured))
    rows = [[r["access_bytes"].split(".")[-1], r["op"], r["byte_offset_of_lane"], int(r["wavefronts"])] for r in measured]
    wrong = driver.execute_script(
        """return arguments[0].filter(([access, op, expression, wavefronts]) =>
        gemmLab.models.banks.run({ access, op, pattern: 'expression', expression }).actual !== wavefronts)""", rows)
    check("model of banks: every measured row", not wrong, wrong)
    shown = []
    for access, op, expression, wavefronts in rows:
        words = fill(driver, "bank-explorer", access=access, op=op, pattern="expression", expression=expression)
        drawn = driver.execute_script("return [...document.querySelectorAll('bank-explorer svg text')].filter(t => /^wavefront/.test(t.textContent)).length")
        if f": {wavefronts} wavefront{'' if wavefronts == 1 else 's'}," not in words or drawn != wavefronts:
            shown.append((access, op, expression, wavefronts, words, drawn))
    check("bank explorer shows and draws every measured row", not shown, shown[:3])

    reference = json.load(open(os.path.join(folder, "reference.json"), encoding="utf-8"))
    counts = reference["counts"]
    wrong = driver.execute_script(
        """const { banks, coalescing } = gemmLab.models;
        return arguments[0].filter(r => { const w = banks.wavefronts(r.address, r.bytes, r.load), s = coalescing.count(r.address, r.bytes);
          return w.actual !== r.wavefronts || w.ideal !== r.ideal || s.sectors !== r.sectors || s.ideal !== r.ideal_sectors ||
            s.distinct !== r.distinct || s.requests !== 1 || [1, 2, 4].some((m, i) => banks.matrices(r.rows, m).actual !== r.matrices[i]); })""", counts)
    check(f"models of banks and sectors: {len(counts)} patterns as the simulated GPU counts them", len(counts) == 4000 and not wrong, wrong[:2])
    check("among them conflicts of many degrees", len({r["wavefronts"] for r in counts}) > 12 and len({r["sectors"] for r in counts}) > 20)
    for name, file in (("the simulated GPU", "reference.json"), ("the CUDA Toolkit", "toolkit.json")):
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            continue
        cases = json.load(open(path, encoding="utf-8"))["occupancy"]
        wrong = driver.execute_script(
            """return arguments[0].filter(c => { const r = gemmLab.models.occupancy.occupancy(c); return (r.error ? 0 : r.blocks) !== c.blocks; })""", cases)
        check(f"model of occupancy: {len(cases)} cases as {name} has them", len(cases) >= 1500 and not wrong, wrong[:3])
        known = {c["capability"] for c in cases}
        if file == "toolkit.json":
            here = set(driver.execute_script("return Object.keys(gemmLab.models.occupancy.CAPABILITIES)"))
            check("every compute capability of the calculator is compared", known == here, known ^ here)
    words = driver.execute_script(
        """return ['', 'lane*', '(lane', 'lane)', 'lane lane', 'lane/0', 'constructor', 'lane-40', '4 if lane', '__proto__', 'lane*4;'].map(e => {
          try { gemmLab.lanes(e); return e; } catch (error) { return error.message.length > 5 ? '' : e; } }).filter(e => e)""")
    check("a formula without meaning is refused in words", not words, words)
    values = driver.execute_script("return ['2+3*4', '7%4', '1<<2+1', '6&3|8', '-8//3', '5 if lane<1 else inactive', '(lane^1)*4', '1 if 2>1 else 0'].map(e => gemmLab.lanes(e.replace('-8//3', '-8//3+9'))[0])")
    check("formulas follow Python's precedence", values == [14, 3, 8, 10, 6, 5, 4, 1], values)


def check_runs(driver, folder):
    """The tile walk against the simulated GPU's counters."""
    rungs = {"gemm_naive": None, "gemm_tiled": dict(BM=32, BN=32, BK=32, TM=1, TN=1), "gemm_block_tile": dict(BM=128, BN=128, BK=16, TM=8, TN=8)}
    number = lambda text: int(text.replace(" ", ""))  # noqa: E731
    for path in sorted(glob.glob(os.path.join(folder, "run-*.txt"))):
        _, rung, m, n, k = os.path.basename(path)[:-4].split("-")
        text = open(path, encoding="utf-8").read()
        if not text:
            continue  # the run itself has failed, which is said elsewhere
        counted = {letter: (number(a), number(b)) for letter, a, b in re.findall(r"\n    ([AB]) +load +([\d ]+) requests, ([\d ]+) sectors", text)}
        tile = rungs[rung] or dict(BM=32, BN=32, BK=32, TM=1, TN=1)
        words = fill(driver, "tile-walk", M=m, N=n, K=k, bytes=4, **tile)
        table = rows_of(driver, "tile-walk", 0)
        column = 1 if rungs[rung] else 0
        shown = {letter: int(table[f"sectors of {letter}"][column]) for letter in "AB"}
        here = f"tile walk, {rung} at {m}×{n}×{k}"
        check(f"{here}: sectors of A and B", shown == {key: v[1] for key, v in counted.items()}, (shown, counted, words))
        model = driver.execute_script("return gemmLab.models.tiles.run(document.querySelector('tile-walk').state)")
        if rungs[rung]:
            loads = re.search(r"shared load +([\d ]+) requests.*?(?:, ([\d ]+) in PTX|\n)", text)
            check(f"{here}: loads from shared memory", model["tiled"]["shared"]["loadRequests"] == number(loads.group(2) or loads.group(1)), loads.groups())
        else:
            requests = {letter: model["naive"]["requests"][letter] for letter in "AB"}
            check(f"{here}: requests", requests == {key: v[0] for key, v in counted.items()}, (requests, counted))


def check_reactions(driver):
    """Mouse and keyboard on each widget; what is shown is what the model says."""
    driver.get(DEMO)
    # coalescing: presets, a slider by keyboard, the drawing, an error
    tag = "coalescing-explorer"
    expected = {"Along a row": (4, 4), "All read one element": (1, 1), "Shifted by one": (5, 4), "Down a column": (32, 4), "float4": (16, 16), "Every fourth": (16, 4)}
    for button in driver.find_elements(By.CSS_SELECTOR, f"{tag} .w-presets button"):
        if button.text in expected:
            sectors, ideal = expected[button.text]
            button.click()
            drawn = driver.execute_script(f"return document.querySelectorAll('{tag} svg rect.w-bad').length")
            check(f"coalescing, {button.text}: {sectors} sectors", f"1 request, {sectors} sector" in said(driver, tag) and
                  f"; {ideal} would" in said(driver, tag) and drawn == sectors, (said(driver, tag), drawn))
    fill(driver, tag, pattern="stride", stride=1, bytes=4, offset=0)
    slider = driver.find_element(By.CSS_SELECTOR, f"{tag} [name=stride]")
    slider.send_keys(Keys.ARROW_RIGHT)
    check("coalescing, arrow key on the stride: 8 sectors", "8 sectors" in said(driver, tag) and "50 %" in said(driver, tag), said(driver, tag))
    words = fill(driver, tag, pattern="expression", expression="lane*4+2")
    check("coalescing: misaligned is said", words.startswith("Misaligned: lane 0 is at byte 2"), words)
    words = fill(driver, tag, pattern="expression", expression="lane*(4")
    check("coalescing: a broken formula is said", "cannot be evaluated" in words, words)
    check("and drawn is nothing", not driver.find_elements(By.CSS_SELECTOR, f"{tag} .w-stage svg"))

    # banks: tile, padding, swizzle
    tag = "bank-explorer"
    tile = dict(access="4", op="load", pattern="tile", across=1, row=32, pad=0, column=5, swizzle=False)
    for change, wavefronts in ((dict(), 32), (dict(pad=1), 1), (dict(swizzle=True), 1), (dict(across=32), 1), (dict(pad=4), 4),
                               (dict(access="16", column=2), 32), (dict(access="16", column=2, swizzle=True), 4), (dict(access="16", column=2, pad=4), 4),
                               (dict(access="x4", column=2), 32), (dict(access="x4", column=2, swizzle=True), 4)):
        words = fill(driver, tag, **{**tile, **change})
        check(f"banks, a column with {change}: {wavefronts}", f": {wavefronts} wavefront" in words, words)
    words = fill(driver, tag, **{**tile, "access": "16", "pad": 1, "column": 0})
    check("banks: an odd padding under 16 bytes is refused", words.startswith("Misaligned: lane 1 is at byte 132"), words)
    hidden = driver.execute_script("return [...document.querySelectorAll('bank-explorer .w-field[hidden] [name]')].map(i => i.name)")
    check("banks: fields without meaning are hidden", "stride" in hidden and "expression" in hidden and "pad" not in hidden, hidden)

    # reuse: the table of lab 2, the fold and the words
    tag = "register-reuse"
    for TM, TN, loads, bound in ((1, 1, "2", "12.5 %"), (2, 2, "1", "25 %"), (4, 4, "0.5", "50 %"), (8, 4, "0.375", "66.7 %"), (8, 8, "0.25", "100 %")):
        words = fill(driver, tag, TM=TM, TN=TN, width=1)
        drawn = driver.execute_script(f"return document.querySelectorAll('{tag} svg rect.w-c').length")
        check(f"reuse, {TM} × {TN}: {loads} loads per multiply-add, at most {bound}", f": {loads} loads per" in words and f"at most {bound}" in words and
              drawn == TM * TN, (words, drawn))
    check("reuse: 16 × 16 spills", "spill" in fill(driver, tag, TM=16, TN=16))

    # tiles: steps, play, bad combination
    tag = "tile-walk"
    fill(driver, tag, M=131, N=129, K=127, BM=64, BN=64, BK=16, TM=4, TN=4, bytes=4)
    fill(driver, tag, step=0, block=9)
    check("tiles: nothing done, nothing read", "After 0 of 8 k tiles this block has read 0 bytes" in said(driver, tag), said(driver, tag))
    forth = [b for b in driver.find_elements(By.CSS_SELECTOR, f"{tag} .w-steps button")]
    forth[1].send_keys(Keys.ENTER)
    check("tiles: one step of the corner block: (3 + 1) × 16 floats", "After 1 of 8 k tiles this block has read 256 bytes" in said(driver, tag), said(driver, tag))
    fill(driver, tag, step=8)
    check("tiles: all of K = 127", "After 8 of 8 k tiles this block has read 1.98 KiB" in said(driver, tag), said(driver, tag))
    check("tiles: at the end there is no step more", not forth[1].is_enabled() and forth[0].is_enabled())
    forth[2].click()
    time.sleep(1.8)
    moved = said(driver, tag)
    forth[2].click()
    check("tiles: play walks", re.match(r"After [123] of 8", moved), moved)
    check("tiles: too many threads is said", "1024 is the limit" in fill(driver, tag, BM=128, BN=128, TM=1, TN=1))
    words = fill(driver, tag, M="", BM=64, BN=64, TM=4, TN=4)
    invalid = driver.execute_script(f"return document.querySelector('{tag} [name=M]').getAttribute('aria-invalid')")
    check("tiles: an empty field leaves the last value, and is marked", invalid == "true" and "NaN" not in words, (invalid, words))

    # occupancy
    tag = "occupancy-calculator"
    fill(driver, tag, capability="9.0", threads=256, registers=128, shared=16384)
    check("occupancy: lab 3's tile", said(driver, tag) == "2 blocks of 8 warps fit: 16 of 64 warps, 25 % occupancy. Limited by registers.", said(driver, tag))
    driver.find_element(By.CSS_SELECTOR, f"{tag} [name=registers]").send_keys(Keys.ARROW_RIGHT)
    check("occupancy: one register more is a cliff", "1 block of" in said(driver, tag), said(driver, tag))
    check("occupancy: what cannot start is said", "limit of 7.5" in fill(driver, tag, capability="7.5", registers=32, shared=100000))
    fill(driver, tag, capability="8.6", shared=0, threads=32, registers=16)
    check("occupancy: block slots", "Limited by block slots" in said(driver, tag), said(driver, tag))
    free = driver.execute_script(f"return [...document.querySelectorAll('{tag} svg rect title')].map(t => t.textContent)")
    check("occupancy: 16 of 48 slots are drawn as taken", len([t for t in free if t.startswith("block")]) == 16 and len([t for t in free if t == "free"]) == 32)


def check_latency(driver):
    """The warps of <latency-hiding>: Little's law, and nothing is shown before a guess."""
    wrong = driver.execute_script(
        """const { run, steady } = gemmLab.models.latency, wrong = [];
        for (let warps = 1; warps <= 16; ++warps) for (let latency = 0; latency <= 40; ++latency) for (let work = 1; work <= 8; ++work) {
          const s = steady({ warps, latency, work }), { states, issued } = run({ warps, latency, work }, 64);
          if (Math.abs(s.share - Math.min(1, warps * work / (work + latency))) > 1e-12 || (s.share === 1) !== (warps >= s.enough)) wrong.push([warps, latency, work]);
          for (let t = 0; t < 64; ++t) { // one warp a slot; a slot is empty only if all wait
            const now = states.map(row => row[t]), issue = now.filter(one => one === 'issue').length;
            if (issue !== (issued[t] >= 0 ? 1 : 0) || (!issue && now.includes('ready'))) wrong.push([warps, latency, work, t]);
          }
        }
        return wrong""")
    check("latency: 5248 settings use the share of slots that Little's law says", not wrong, wrong[:3])
    look(driver, 1280, "light")
    driver.get("about:blank")
    driver.get(DEMO)
    tag = "latency-hiding"
    drawn = lambda kind: driver.execute_script(f"return document.querySelectorAll('{tag} svg rect.{kind}').length")  # noqa: E731
    go, skip = driver.find_elements(By.CSS_SELECTOR, f"{tag} .w-steps button")
    words = fill(driver, tag, warps=4, latency=20, work=2)
    hidden = lambda: "What share" in said(driver, tag) and drawn("w-bad") == drawn("w-mark") == 0  # noqa: E731
    check("latency: nothing is shown before a guess", hidden() and "of 22 slots" not in words and not skip.is_enabled(), words)
    go.send_keys(Keys.ENTER)
    check("latency: run asks for one, and goes to its field", "Type a guess first" in said(driver, tag) and
          driver.execute_script("return document.activeElement.name") == "guess", said(driver, tag))
    driver.switch_to.active_element.send_keys("50")
    check("latency: a guess alone shows nothing", hidden(), said(driver, tag))
    go.click()
    time.sleep(.8)
    check("latency: it plays", re.search(r"Cycle \d+ of 64", said(driver, tag)) and 0 < drawn("w-mark") + drawn("w-bad"), said(driver, tag))
    skip.click()
    check("latency: the end, beside the guess", "8 of 22 slots used in every round: 36.4 %. You guessed 50 %. 11 warps would use all." in said(driver, tag), said(driver, tag))
    words = fill(driver, tag, warps=11)
    check("latency: another setting hides it again", hidden() and not skip.is_enabled(), words)
    fill(driver, tag, guess=100)
    skip.click()
    check("latency: 11 warps fill all slots from the start", "100 %. Your guess of 100 % is right. One warp fewer" in said(driver, tag) and drawn("w-bad") == 0, said(driver, tag))


def check_roofline(driver, folder):
    driver.get(DEMO)
    tag = "roofline-chart"
    peak, memory = measured.roofs()["tflops"]["f32"], measured.roofs()["bandwidth"]
    check("roofline: the H200's ridge", f"meet at {peak / memory:.3g} FLOP per byte" in said(driver, tag), said(driver, tag))
    words = fill(driver, tag, bm=128, bn=128)
    check("roofline: a 128 × 128 tile has 32 FLOP per byte", "makes 32 FLOP" in words and "limited by arithmetic" in words, words)
    words = fill(driver, tag, bm=1, bn=1)
    check("roofline: one element a thread has 0.25", "makes 0.25 FLOP" in words and f"at most {memory / 4:.3g} TFLOP/s" in words and "memory" in words, words)
    check("roofline: no figure is said", "no figure" in fill(driver, tag, gpu="l4", path="f64"))
    words = fill(driver, tag, gpu="own", path="f32", peak=10, bandwidth=1)
    check("roofline: another GPU", "meet at 10 FLOP per byte" in words, words)
    fill(driver, tag, gpu="h200")
    upload = driver.find_element(By.CSS_SELECTOR, f"{tag} [name=file]")

    def load(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        before = said(driver, tag)
        upload.send_keys(path)
        for _ in range(100):
            if said(driver, tag) != before:
                break
            time.sleep(.05)
        return said(driver, tag)

    results = {"schema": 2, "kind": "bench", "machine": {"gpu": "NVIDIA H200"}, "cpu": [{"what": "naive", "type": "float", "m": 512, "n": 512, "k": 512, "ms": 90}], "records": [
        {"rung": "gemm_naive", "type": "float", "math": "float", "m": 4096, "n": 4096, "k": 4096, "status": "measured", "ms": 23.138},
        {"rung": "gemm_mma", "type": "half", "math": "half", "m": 4096, "n": 4096, "k": 4096, "tflops": 297.1},
        {"rung": "gemm_pipelined", "type": "float", "m": 4096, "n": 4096, "k": 4096, "tflops": {"median": 40.61, "low": 40.5}},
        {"rung": "<img src=x onerror=alert(1)>", "type": "float", "n": 1024, "gflops": 20000},
        {"rung": "no speed", "type": "float", "shape": [1, 1, 1], "tflops": None}]}
    words = load("bench.json", json.dumps(results))
    check("roofline: a file of results gives its points", "3 of 4 measured points from NVIDIA H200 are" in words, words)
    table = rows_of(driver, tag, 0)
    check("roofline: with the share of the roof", table.get("2", [None])[-1] == f"{100 * 40.61 / peak:.3g} %" and table["2"][0] == "gemm_pipelined", table)
    drawn = driver.execute_script(f"return document.querySelectorAll('{tag} svg rect.w-own').length")
    check("roofline: drawn, hostile names as text", drawn == 3 and not driver.find_elements(By.CSS_SELECTOR, f"{tag} img"), drawn)
    words = fill(driver, tag, path="bf16")
    check("roofline: no loop of wgmma was measured, so the data sheet's peak stands", ": 989 TFLOP/s and " in words and "from the data sheet" in words, words)
    check("roofline: points belong to an arithmetic", "1 of 4 measured points" in words and rows_of(driver, tag, 0)["1"][0] == "gemm_mma", words)
    fill(driver, tag, path="f32")
    graded = {"schema": 1, "device": "gpu", "labs": [{"id": 1, "stages": [{"id": "1.2", "rung": "gemm_naive", "hardware": {"speed": [
        {"type": "float", "at": [2048, 2048, 1024], "tflops": 5.5, "ms": 1.5}]}}]}]}
    words = load("graded.json", json.dumps(graded))
    check("roofline: the report of a check has its speeds", "1 of 1 measured point " in words and rows_of(driver, tag, 0)["1"][:3] == ["gemm_naive", "float", "2048 × 2048 × 1024"], words)
    fill(driver, tag, path="f32")
    driver.execute_script(
        """const chart = document.createElement('roofline-chart'); chart.id = 'recorded';
        chart.setAttribute('recorded', JSON.stringify({gpu: 'NVIDIA H200', records: [512, 4096].map(n => ({rung: 'gemm_naive', math: 'float', type: 'float', n, tflops: 5, intensity: 2}))}));
        chart.setAttribute('size', '4096'); document.querySelector('main').append(chart)""")
    shown = lambda: driver.execute_script("const c = document.querySelector('#recorded'); return [c.querySelector('.w-result').textContent, c.querySelectorAll('svg rect.w-own').length]")  # noqa: E731
    check("roofline: points of the page's own", "1 of 2 recorded points from NVIDIA H200 is of this arithmetic and n = 4096" in shown()[0] and shown()[1] == 1, shown())
    sizes = driver.find_element(By.CSS_SELECTOR, "#recorded [name=size]")
    sizes.send_keys(Keys.HOME)
    check("roofline: of every size, by the keyboard", "2 of 2 recorded" in shown()[0] and shown()[1] == 2, shown())
    driver.find_element(By.CSS_SELECTOR, "#recorded [name=show]").send_keys(Keys.END)
    check("roofline: or none", shown()[1] == 0, shown())
    driver.find_element(By.CSS_SELECTOR, "#recorded [name=show]").send_keys(Keys.ARROW_UP)
    check("roofline: it says which file to choose", "Choose your file: build/bench/bench.json" in shown()[0] and shown()[1] == 0, shown())
    driver.find_element(By.CSS_SELECTOR, "#recorded [name=file]").send_keys(os.path.join(folder, "bench.json"))
    for _ in range(100):
        if "measured point" in shown()[0]:
            break
        time.sleep(.05)
    check("roofline: the reader's file takes the place of the page's points", "3 of 4 measured points" in shown()[0] and shown()[1] == 3, shown())
    driver.execute_script("document.querySelector('#recorded').remove()")
    words = load("report.json", json.dumps({"schema": 1, "device": "sim", "labs": [{"id": 1, "stages": [{"id": "1.1", "goals": []}]}]}))
    check("roofline: a report of the simulated GPU has no speeds", "holds no speeds" in words, words)
    words = load("broken.json", "{not json")
    check("roofline: what is no JSON is said", "is not JSON" in words, words)


def check_page(driver, axe):
    """Looks: both themes, three widths, axe, keyboard, no request, no script."""
    driver.get_log("browser"), requests(driver)
    for theme in THEMES:
        for width in WIDTHS:
            here = f"demo, {theme}, {width} px"
            look(driver, width, theme)
            driver.get(DEMO)
            driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            check(f"{here}: no horizontal scroll", wide <= width, f"{wide} px wide")
            outside = driver.execute_script(
                "return [...document.querySelectorAll('main *')].filter(e => !e.closest('.w-scroll') && e.getBoundingClientRect().right > innerWidth + 1)"
                ".map(e => e.tagName + '.' + e.getAttribute('class')).slice(0, 5)")
            check(f"{here}: nothing sticks out", not outside, outside)
            cut = driver.execute_script(
                """return [...document.querySelectorAll('.w-stage svg')].flatMap(s => { const box = s.viewBox.baseVal;
                return [...s.querySelectorAll('text')].filter(t => { const b = t.getBBox(); return b.x < -1 || b.x + b.width > box.width + 1 || b.y + b.height > box.height + 3; })
                .map(t => t.textContent); }).slice(0, 5)""")
            check(f"{here}: no word of a drawing is cut off", not cut, cut)
            if axe and (theme, width) in (("light", 1280), ("dark", 360)):
                found = violations(driver, axe)
                check(f"{here}: axe-core has nothing to say", not found, found)
    errors = [entry["message"] for entry in driver.get_log("browser")]
    check("nothing on the console", not errors, errors)
    folder = os.path.dirname(DEMO) + "/"
    asked = {one for one in requests(driver) if not one.startswith((folder, "data:", "chrome:"))}
    check("nothing is asked for but the widgets' own files", not asked, asked)

    unlabelled = driver.execute_script(
        "return [...document.querySelectorAll('.gemm-widget svg')].filter(s => s.getAttribute('role') !== 'img' || s.getAttribute('aria-label').length < 60).length"
        " + [...document.querySelectorAll('.gemm-widget :is(input, select)')].filter(i => !i.labels.length || !i.labels[0].textContent.trim()).length")
    check("drawings and fields have their names", unlabelled == 0, unlabelled)
    repeated = driver.execute_script("const seen = new Set(); return [...document.querySelectorAll('[id]')].map(e => e.id).filter(i => seen.size === seen.add(i).size)")
    check("every id is there once", not repeated, repeated)

    # Keyboard: from the first button through every control of every widget, each with a ring.
    look(driver, 1280, "light")
    driver.get(DEMO)
    wanted = driver.execute_script("return [...document.querySelectorAll('.gemm-widget :is(button, input, select, summary)')].filter(e => !e.disabled && e.getClientRects().length).length")
    reached, bare = set(), []
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    for _ in range(wanted + 40):
        here = driver.execute_script(
            "const e = document.activeElement; if (e === document.body) return null; const s = getComputedStyle(e);"
            "return [[...document.querySelectorAll('*')].indexOf(e), s.outlineStyle !== 'none', Boolean(e.closest('.gemm-widget')), e.outerHTML.slice(0, 80)]")
        if here is None:
            break
        if here[2]:
            reached.add(here[0])
            if not here[1]:
                bare.append(here[3])
        ActionChains(driver).send_keys(Keys.TAB).perform()
    check(f"the keyboard reaches all {wanted} controls", len(reached) == wanted, len(reached))
    check("and one sees where it is", not bare, bare)

    # Theme by attribute beats the system's; both are palette.py's.
    import palette
    rgb = lambda colour: "rgb(" + ", ".join(str(int(colour[i:i + 2], 16)) for i in (1, 3, 5)) + ")"  # noqa: E731
    for system in THEMES:
        for attribute in (*THEMES, "auto"):
            look(driver, 1280, system)
            ground = driver.execute_script("document.documentElement.dataset.theme = arguments[0]; return getComputedStyle(document.querySelector('tile-walk')).backgroundColor", attribute)
            colours = palette.LIGHT if attribute == "light" or (attribute == "auto" and system == "light") else palette.DARK
            check(f"theme {attribute} on a {system} system", ground == rgb(colours["bg"]), ground)

    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= .03928 else ((p + .055) / 1.055) ** 2.4 for p in parts]
        return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2]

    for name, colours in (("light", palette.LIGHT), ("dark", palette.DARK)):
        pairs = [(fg, bg) for fg in ("fg", "muted", "a", "b", "c", "mark", "bad") for bg in ("bg", "panel")]
        pairs += [("fg", f"{x}-fill") for x in ("a", "b", "c", "mark", "bad")] + [("fg", "cell"), ("muted", "cell")]
        pairs += [(x, f"{x}-fill") for x in ("a", "b", "c", "mark", "bad")]
        low = []
        for fg, bg in pairs:
            one, two = sorted((luminance(colours[fg]), luminance(colours[bg])))
            if (two + .05) / (one + .05) < (4.5 if not bg == f"{fg}-fill" else 3):
                low.append((fg, bg, round((two + .05) / (one + .05), 2)))
        check(f"contrast of the {name} palette", not low, low)

    # Reduced motion: no play button. A setting in the address. Fallback without script.
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    driver.get("about:blank")
    driver.get(DEMO)
    play = driver.find_elements(By.CSS_SELECTOR, "tile-walk .w-steps button")
    check("with reduced motion nothing plays", not play[2].is_displayed() and play[1].is_displayed())
    fill(driver, "latency-hiding", warps=8, latency=20, work=1)
    fill(driver, "latency-hiding", guess=10)
    go, skip = driver.find_elements(By.CSS_SELECTOR, "latency-hiding .w-steps button")
    go.click()
    check("and the run of warps is there at once", "8 of 21 slots" in said(driver, "latency-hiding") and not skip.is_displayed() and not go.is_displayed(),
          said(driver, "latency-hiding"))
    driver.get("about:blank")
    driver.get(DEMO + "#bank-explorer?access=4&op=load&pattern=stride&stride=32")
    check("a setting in the address is taken", ": 32 wavefronts" in said(driver, "bank-explorer"), said(driver, "bank-explorer"))
    fill(driver, "bank-explorer", stride=33)
    driver.find_element(By.CSS_SELECTOR, "bank-explorer .w-link").click()
    check("and written there on demand", "stride=33" in driver.current_url, driver.current_url)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get("about:blank")
    driver.get(DEMO)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    check("without script the fallback stays", driver.find_element(By.CSS_SELECTOR, "coalescing-explorer p").is_displayed())
    driver.get("about:blank")
    driver.get(DEMO)
    made = driver.execute_script(
        "const b = document.createElement('bank-explorer'); b.setAttribute('pattern', 'tile'); b.setAttribute('swizzle', 'true'); b.setAttribute('pad', '0');"
        "document.querySelector('main').append(b); return b.querySelector('.w-result').textContent + b.state.swizzle")
    check("attributes set what a widget begins with", ": 1 wavefront," in made and made.endswith("true"), made)


def check_figures(driver):
    figures = sorted(glob.glob(os.path.join(ROOT, "docs", "figures", "*.svg")))
    check("there are figures", len(figures) >= 5, figures)
    for path in figures:
        name = os.path.basename(path)
        tree = xml.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        title, desc = tree.find(space + "title"), tree.find(space + "desc")
        text = open(path, encoding="utf-8").read()
        check(f"{name}: title and description", title is not None and desc is not None and len(desc.text) > 60 and tree.get("role") == "img")
        if name.endswith("-narrow.svg"):
            # On a telephone of 360 pixels a figure has 328 of them.
            least = 328 / float(tree.get("width")) * min(float(word.get("font-size", 14)) for word in tree.iter(space + "text"))
            check(f"{name}: its words are 11 pixels high at 360 pixels", least >= 11, least)
            check(f"{name}: it is the narrow one of a figure", os.path.exists(path.replace("-narrow", "")))
        check(f"{name}: needs nothing but itself", not re.search(r'(href|src)=|url\((?!#)|@import|<script|<image|<foreignObject', text))
        grounds = []
        for theme in THEMES:
            look(driver, 900, theme)
            driver.get("file://" + path)
            found = driver.execute_script(
                """const box = document.documentElement.viewBox.baseVal, texts = [...document.querySelectorAll('text')].map(t => [t, t.getBBox()]);
                const out = texts.filter(([t, b]) => b.x < 2 || b.y < 0 || b.x + b.width > box.width - 2 || b.y + b.height > box.height).map(([t]) => t.textContent);
                const over = [];
                texts.forEach(([t, a], i) => texts.slice(i + 1).forEach(([u, b]) => {
                  const x = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x), y = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
                  if (x > 1 && y > 4 && !t.getAttribute('transform') && !u.getAttribute('transform')) over.push(t.textContent + ' / ' + u.textContent); }));
                return [out, over, getComputedStyle(document.querySelector('rect')).fill]""")
            grounds.append(found[2])
            check(f"{name}, {theme}: no word outside", not found[0], found[0])
            check(f"{name}, {theme}: no words on each other", not found[1], found[1][:4])
        check(f"{name}: it has a light and a dark look", grounds[0] != grounds[1], grounds)


def main():
    program, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    axe = axe_source()
    driver = browser(program)
    try:
        look(driver, 1280, "light")
        driver.get(DEMO)
        missing = [tag for tag in TAGS if not driver.find_elements(By.CSS_SELECTOR, f"{tag}.gemm-widget .w-stage svg")]
        check(f"{len(TAGS)} widgets come up from file://", not missing, missing)
        check_models(driver, folder)
        check_runs(driver, folder)
        check_reactions(driver)
        check_latency(driver)
        check_roofline(driver, folder)
        check_page(driver, axe)
        check_figures(driver)
    finally:
        driver.quit()


main()
