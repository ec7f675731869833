#!/bin/bash
# `make bench` without a GPU (the CPU's points, killed in the middle, resumed), the plots of a bench, and the page of
# `make report` (in Chromium if it is installed).
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
bench=${BUILD:-build}/bin/bench
helper=grader/tests/bench_report.py
had_predictions=$([ -e predictions.toml ] && echo yes)

# ---- the command
points() { grep -o '"threads"' "$1/bench.json" 2>/dev/null | wc -l; }
if [ -z "$(command -v nvidia-smi)" ]; then
    out=$scratch/bench
    "$bench" --solution --quick --out "$out" </dev/null >"$scratch/first" 2>&1 &
    pid=$!
    for _ in $(seq 600); do [ "$(points "$out")" -ge 1 ] && break; sleep 0.05; done
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    before=$(grep -o '.*"threads".*}' "$out/bench.json" | head -n 1)
    holds "a bench that is killed leaves a whole file" python3 -m json.tool "$out/bench.json"
    holds "with the points so far" test "$(points "$out")" -ge 1
    says "the next one goes on" 'no GPU' "$bench" --solution --quick --out "$out"
    same "and keeps what there was" "$before" "$(grep -o '.*"threads".*}' "$out/bench.json" | head -n 1)"
    says "the tables fit 80 columns" '^triple loop, float' "$bench" --solution --quick --out "$out"
    same "" "" "$(sed 's/plots: .*//' "$scratch/.out" | awk 'length > 80')"
    holds "the file says what it is" grep -q '"kind": "bench"' "$out/bench.json"
    echo '{"schema": 1}' >"$out/bench.json"
    fails "a file of another kind is not overwritten" 4 'holds no results of a bench' "$bench" --solution --quick --out "$out"
fi
recorded=docs/results/h200/bench.json
holds "files of several GPUs are put together" "$bench" --solution --add "$recorded" --out "$scratch/joined"
same "from nothing, nothing is lost" "$(cat "$recorded")" "$(cat "$scratch/joined/bench.json")"
sed 's/NVIDIA H200/NVIDIA T4/' "$recorded" >"$scratch/t4.json"
fails "those of another model are not" 4 'is from another GPU, driver or compiler' "$bench" --solution --add "$scratch/t4.json" --out "$scratch/joined"
same "and change nothing" "$(cat "$recorded")" "$(cat "$scratch/joined/bench.json")"
fails "lab 9" 4 'there is no lab 9' "$bench" --lab 9 --solution --out "$scratch/nine"
same "benches of solutions ask nobody for predictions" "$had_predictions" "$([ -e predictions.toml ] && echo yes)"

# ---- plots
python=
for one in "${BUILD:-build}/venv/bin/python3" /usr/bin/python3 python3; do
    if "$one" -c 'import matplotlib' >/dev/null 2>&1; then python=$one && break; fi
done
holds "a fixture" python3 "$helper" fixture "$scratch/fixture"
cat >"$scratch/without.py" <<'PYTHON'
import runpy, sys
sys.modules["matplotlib"] = None  # importing it fails
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
PYTHON
fails "without matplotlib one line says what to install" 3 'matplotlib is not installed' \
    python3 "$scratch/without.py" grader/plots/bench_plots.py "$scratch/fixture/bench.json" "$scratch/none"
same "one line" 1 "$(wc -l <"$scratch/.out" | tr -d ' ')"
if [ -z "$python" ]; then
    echo "left out: plots (needs python3-matplotlib)"
else
    plots() { "$python" grader/plots/bench_plots.py "$1" "$2"; }
    says "plots of a bench" 'ladder.svg' plots "$scratch/fixture/bench.json" "$scratch/a"
    plots "$scratch/fixture/bench.json" "$scratch/b" >/dev/null
    holds "are the same byte for byte each time" diff -r "$scratch/a" "$scratch/b"
    # 4 rungs in float and in double, 1 in half and bfloat16; int32 has no cuBLAS.
    holds "the ladder has a bar per rung" python3 "$helper" svg "$scratch/a/ladder.svg" ladder- 10
    holds "speeds: a curve per rung, and cuBLAS" python3 "$helper" svg "$scratch/a/rates-float.svg" rate- 5
    holds "int32 has no cuBLAS" python3 "$helper" svg "$scratch/a/rates-int32.svg" rate- 4
    holds "the roofline has a point per rung" python3 "$helper" svg "$scratch/a/roofline.svg" roofline-float- 4
    holds "and the roofs of its types" python3 "$helper" svg "$scratch/a/roofline.svg" roof-double- 2
    holds "of tensor cores mma.sync and wgmma" python3 "$helper" svg "$scratch/a/roofline.svg" roof-bfloat16- 2
    for committed in docs/results/*/bench.json; do
        [ -e "$committed" ] || continue
        says "plots of $committed" 'ladder.svg' plots "$committed" "$scratch/committed"
        for file in "$scratch"/committed/*.svg; do
            holds "$(basename "$file") of it is well-formed" python3 "$helper" svg "$file" nothing- 0
        done
    done
fi
echo 'not json' >"$scratch/broken.json"
fails "a broken file is named" 3 'matplotlib|broken.json is no JSON' "${python:-python3}" grader/plots/bench_plots.py "$scratch/broken.json" "$scratch/none"

# ---- the page
report() { "${python:-python3}" grader/plots/report.py --counts "$scratch/counts" "$@"; }
mkdir -p "$scratch/counts" "$scratch/pages"
given=lab3_shared_mem/gemm.cu # a kernel with conflicts, as the students get it
"${BUILD:-build}/bin/grader" explain --lab 3 --stage 3.0 --file "$given" --json "$scratch/counts/counts-lab3.json" --out "$scratch/e.html" >/dev/null 2>&1
says "a report of everything" 'written: ' report --bench "$scratch/fixture/bench.json" --out "$scratch/pages/full.html"
holds "asks for nothing outside" python3 "$helper" page "$scratch/pages/full.html" "Imaginary 1" "gemm_interleaved_tile"
holds "shows errors beside speed, its own and those of cuBLAS" python3 "$helper" page "$scratch/pages/full.html" "1.2 (0.068)" "5.7 (0.28)"
holds "compares predictions, and marks late ones" python3 "$helper" page "$scratch/pages/full.html" \
    "1.2 gemm_naive 12 12.4 as predicted before the run" "3.3 gemm_block_tile 56 56.0 as predicted given after the run"
holds "asks two questions about the student's own counts" python3 "$helper" page "$scratch/pages/full.html" \
    "gemm_suspicious" "Which of your lines decides it?" "Which lanes get in each other's way?" "One answer"
holds "and does not time what is wrong" python3 "$helper" page "$scratch/pages/full.html" "Not timed, because the result was wrong: gemm_tiled<float> at 4096"
says "a report without a GPU" 'make bench' report --bench "$scratch/none.json" --out "$scratch/pages/cpu.html"
holds "says what is missing" python3 "$helper" page "$scratch/pages/cpu.html" "No speeds are measured" "make bench" "gemm_suspicious"
fails "a report without matplotlib is one, too" 0 'matplotlib is not installed' python3 "$scratch/without.py" grader/plots/report.py \
    --counts "$scratch/counts" --bench "$scratch/fixture/bench.json" --out "$scratch/pages/plain.html"
holds "and says so" python3 "$helper" page "$scratch/pages/plain.html" "matplotlib is not installed" "gemm_block_tile"
fails "a broken bench is named" 3 'broken.json is no JSON' report --bench "$scratch/broken.json" --out "$scratch/pages/no.html"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "left out: the page in a browser (needs chromium)"
    exit 0
fi
for page in full cpu plain; do
    timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --proxy-server=127.0.0.1:9 \
        --enable-logging=stderr --v=0 --dump-dom "file://$scratch/pages/$page.html" >"$scratch/dom" 2>"$scratch/console"
    holds "$page.html opens" grep -q 'Explain this count' "$scratch/dom"
    same "$page.html: nothing on the console" "" "$(grep -i 'CONSOLE' "$scratch/console")"
done
