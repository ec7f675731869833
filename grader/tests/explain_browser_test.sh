#!/bin/bash
# The pages of `make explain` in headless Chromium (explain_browser.py), and the command's own exit statuses and
# messages. Without a browser the first half is left out, which is said.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
# shellcheck source=grader/tests/browser.bash
. "$(dirname "$0")/browser.bash"
grader=${BUILD:-build}/bin/grader
pages=$scratch/pages
mkdir -p "$pages"

# ---- the command
explain() { "$grader" explain "$@" </dev/null; }
given=$scratch/given.cu # a kernel that conflicts: 3.0 as the students get it, or as a course staff's tree keeps it
cp lab3_shared_mem/gemm.cu "$given" 2>/dev/null
says "lab 3 as given: the conflicts are named" 'line [0-9]+: each request takes [0-9]+ wavefronts, [0-9]+ would do; lanes' \
    explain --lab 3 --rung gemm_suspicious --file "$given" --out "$pages/given.html" --json "$pages/given.json"
holds "the page says the same" grep -qE 'each request takes [0-9]+ wavefronts' "$pages/given.html"
holds "and the JSON" grep -q '"wavefronts"' "$pages/given.json"
holds "a line for every count" grep -qE '"line": ?[1-9]' "$pages/given.json"
same "none of them counts at no line of the file" '' "$(grep -E '"line": ?0\b' "$pages/given.json")"
if [ -e lab3_shared_mem/solution/gemm.cu ]; then
    says "the solutions have rungs without a word of waste" 'gemm_tiled .* right' explain --lab 3 --solution --out "$pages/solution.html"
fi
says "a stage names its rung, sizes can be chosen" 'gemm_suspicious · 48×40×24 double' \
    explain --lab 3 --stage 3.0 --file "$given" -M 48 -N 40 -K 24 --type double --out "$scratch/small.html"
same "JSON on standard output comes alone" '{' "$(explain --lab 3 --stage 3.0 --file "$given" --json - --out "$scratch/small.html" | head -c 1)"

# What a student can do to the page.
{
    printf 'static const char* hostile = "</script><script>document.title=1</script><img src=//example.com/x.png>"; // \342\200\256\001\377\n'
    printf '// %s\n' "$(head -c 10000 /dev/zero | tr '\0' x)"
    sed 's/sum += a_tile/sum += 1 + a_tile/' "$given"
} >"$scratch/wrong.cu"
fails "a wrong result is said and fails" 1 'of a wrong result' explain --lab 3 --stage 3.0 --file "$scratch/wrong.cu" --out "$pages/wrong.html"
sed 's/^    __syncthreads();  *\/\/ (E)$//' "$given" >"$scratch/race.cu"
fails "findings are shown and fail" 1 'shared-memory race' explain --lab 3 --stage 3.0 --file "$scratch/race.cu" --out "$pages/race.html"
{ cat "$given"; echo 'int broken = "</pre><script>1</script>";'; } >"$scratch/broken.cu"
fails "what does not compile says so" 2 'does not compile' explain --lab 3 --file "$scratch/broken.cu" --out "$pages/broken.html"
holds "with the compiler's words on the page" grep -q 'error:' "$pages/broken.html"
sed 's/constexpr int TILE = 16;/constexpr int TILE = 16; *(volatile int*)8 = 1;/' "$given" >"$scratch/crash.cu"
fails "a crash is a crash" 1 'crashed' explain --lab 3 --stage 3.0 --file "$scratch/crash.cu" --out "$pages/crash.html"
[ -z "$(grep -o 'TODO(3.2)' lab3_shared_mem/gemm.cu)" ] ||
    fails "nothing is started: nothing to explain" 1 'not started: gemm_tiled' explain --lab 3 --rung gemm_tiled --file "$given" --out "$pages/empty.html"

# ---- wrong usage
fails "no lab" 4 'lab' explain
fails "lab 9" 4 'there is no lab 9; there are: ' explain --lab 9
fails "an unknown rung" 4 'has no rung nonesuch; it has: ' explain --lab 3 --rung nonesuch
fails "an unknown stage" 4 'there is no stage 9.9; there are: ' explain --lab 3 --stage 9.9
fails "a rung and a stage of another" 4 'name one of the two' explain --lab 3 --rung gemm_tiled --stage 3.1
fails "an unknown type" 4 'has no type quad; it has: ' explain --lab 3 --type quad
fails "a size that cannot be" 4 '' explain --lab 3 -M 100000
fails "a negative size" 4 '' explain --lab 3 -K -1
touch "$scratch/file"
fails "a folder that cannot be made" 3 "$scratch/file" explain --lab 3 --stage 3.0 --out "$scratch/file/page.html"
fails "a page that is a folder" 3 'it is a folder' explain --lab 3 --stage 3.0 --out "$pages"
says "usage on demand" '--solution' explain --help
fails "make explain without a lab" any 'which lab' make -s explain
fails "make explain LAB=99" 2 'no such lab here' make -s explain LAB=99

# ---- the browser
find_browser pages || exit 0
looks "the browser came to its end" 240 "$python" grader/tests/explain_browser.py "$browser" "$pages"
