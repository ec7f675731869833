#!/bin/bash
# The widgets and figures of docs/: what is generated is up to date, and in headless Chromium the widgets show what their
# models say, which is what the simulated GPU counts and what was measured (widgets_test.py). Without a browser only the
# first part is done, which is said.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../grader/tests/shell.bash"
# shellcheck source=grader/tests/browser.bash
. "$(dirname "$0")/../../grader/tests/browser.bash"
grader=${BUILD:-build}/bin/grader

holds "figures and palette are as their scripts draw them" python3 docs/figures/draw.py --check
cp -r docs "$scratch/docs"
echo '<!-- edited by hand -->' >>"$scratch/docs/figures/lab1-warp.svg"
fails "a figure edited by hand is found" 1 'not up to date: .*lab1-warp.svg' python3 "$scratch/docs/figures/draw.py" --check

# ---- what the models are compared with
reference() { # FILE FLAG...
    # shellcheck disable=SC2086 # "ccache g++" is two words
    ${CXX:-g++} -std=c++20 -O1 -I. "${@:2}" docs/tests/count_reference.cpp common/simgpu/count/{coalescing,occupancy,shared_banks}.cpp \
        -o "$scratch/reference" && "$scratch/reference" >"$1"
}
holds "the simulated GPU's counts of 4000 patterns" reference "$scratch/reference.json"
toolkit=${CUDA_HOME:-/usr/local/cuda}/include
if [ -e "$toolkit/cuda_occupancy.h" ]; then
    holds "the CUDA Toolkit's occupancy" reference "$scratch/toolkit.json" -DTOOLKIT -isystem "$toolkit"
else
    echo "left out: occupancy beside the CUDA Toolkit's (no $toolkit/cuda_occupancy.h); 9.0 is compared with the simulated GPU's"
fi
if [ -e lab3_shared_mem/solution/gemm.cu ]; then
    counters() { # LAB RUNG M N K
        "$grader" run --lab "$1" --rung "$2" -M "$3" -N "$4" -K "$5" --type float --solution --device sim </dev/null >"$scratch/run-$2-$3-$4-$5.txt"
    }
    for shape in "256 256 256" "131 129 127" "64 200 40"; do
        for rung in "1 gemm_naive" "3 gemm_tiled" "3 gemm_block_tile"; do
            # shellcheck disable=SC2086
            holds "counters of lab $rung at $shape" counters $rung $shape
        done
    done
fi

# ---- the browser
find_browser widgets || exit 0
looks "the browser came to its end" 400 "$python" docs/tests/widgets_test.py "$browser" "$scratch"
