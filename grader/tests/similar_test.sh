#!/bin/bash
# make similar: copies are found however they are disguised, independent solutions are not in the top; the pages. Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
grade=$build/bin/grade
[ -x "$grade" ] && [ -x "$build/bin/unpack" ] || { bad "no $grade: make BUILD='$build' '$grade' '$build/bin/unpack'"; exit 1; }
python=${PYTHON:-python3}

# 60 students, 20 of them copies, as `make bench-similar` makes them; the threshold was chosen on class 1, so others judge it.
says "precision and recall on classes of 60" '^own ' "$python" grader/author/similar/measure.py --seeds 2 3 --least-precision 0.9 --least-recall 0.8
sed -n 's/^own/        own/p' "$scratch/.out"

# ---- the same fingerprints, whatever a copier changes first; others where the code is another
cat >"$scratch/one.cu" <<'CODE'
// Walks K.
template <typename T>
__global__ void kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;  // of C
  T sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, 3);
  if (row < c.rows) c(row, 3) = sum * 0.5f + (row >> 2);
}
CODE
sed 's,//.*,,; s/sum/total/g; s/row/line/g; s/++k/k++/; s/ = /=/; s/0\.5f/1e-3/' "$scratch/one.cu" | tr -s '\n ' '\n\n' >"$scratch/copy.cu"
sed 's/sum += a(row, k)/sum = sum + b(k, 3) - a(k, row)/; s/>> 2/% 7/; s/__global__/__device__/' "$scratch/one.cu" >"$scratch/other.cu"
prints() { "$python" -c 'import sys
sys.path.insert(0, "grader/course/similar")
import winnow
print(sorted(winnow.fingerprints(open(sys.argv[1]).read())))' "$1"; }
same "names, comments, layout, numbers and i++ make no difference" "$(prints "$scratch/one.cu")" "$(prints "$scratch/copy.cu")"
holds "there are fingerprints" test "$(prints "$scratch/one.cu")" != "[]"
holds "other code has others" test "$(prints "$scratch/one.cu")" != "$(prints "$scratch/other.cu")"

for opened in '/* x ' 'R"(x '; do
    "$python" -c 'import sys; print(sys.argv[1] * 200000)' "$opened" >"$scratch/open.cu"
    same "what is never closed is read once: $opened" 0 "$(timeout 20 "$python" -c 'import sys
sys.path.insert(0, "grader/course/similar")
import winnow
winnow.fingerprints(open(sys.argv[1]).read())' "$scratch/open.cu" >&2; echo $?)"
done

# ---- one text for most of a small class: what everybody has weighs nothing, and yet nobody writes it twice
for who in ann ben cat dan; do
    mkdir -p "$scratch/small/$who/lab1_naive"
    sed 's/Walks K/Walks K, as I see it/' "$scratch/one.cu" >"$scratch/small/$who/lab1_naive/gemm.cu"
done
sed 's/sum/total/g' "$scratch/one.cu" >"$scratch/small/dan/lab1_naive/gemm.cu"
mkdir -p "$scratch/small/eve/lab1_naive" "$scratch/small/fay/lab1_naive"
cp lab1_naive/gemm.cu "$scratch/small/eve/lab1_naive/"
cp lab1_naive/gemm.cu "$scratch/small/fay/lab1_naive/"
"$grade" --root . --build "$build" "$scratch/small" --collect --out "$scratch/few" >/dev/null
says "files of one text are listed, skeletons and other texts are not" \
    '^the same text: lab1_naive/gemm.cu: ann, ben, cat$' "$python" grader/course/similar/similar.py "$scratch/few" "$scratch/few-pages"
holds "on the page, too" grep -q '<td>ann, ben, cat</td>' "$scratch/few-pages/index.html"

# ---- pages
"$python" grader/author/similar/make_class.py "$scratch/class" --students 12 --copies 1
mv "$scratch/class/class/c00" "$scratch/class/class/<b>evil"
mkdir "$scratch/term"
original() { "$python" -c 'import json, sys
print(next(one["of"] for one in json.load(open(sys.argv[1])) if one["copy"] == sys.argv[2]))' "$scratch/class/truth.json" "$1"; }
cp -r "$scratch/class/class/$(original c00)" "$scratch/term/old"
"$grade" --root . --build "$build" "$scratch/class/class" --collect --out "$scratch/now" >/dev/null
"$grade" --root . --build "$build" "$scratch/term" --collect --out "$scratch/then" >/dev/null
fails "a folder that make collect did not write is one line" 1 '^error: .*intake.json' "$python" grader/course/similar/similar.py "$scratch" "$scratch/nowhere"
similar() { "$python" grader/course/similar/similar.py "$scratch/now" "$scratch/pages" "$@"; }
says "a copy is in the list" "<b>evil.*$(original c00)|$(original c00).*<b>evil" similar
says "an earlier term's too" "earlier: old.*$(original c00)|$(original c00).*earlier: old" similar --previous "$scratch/then"
holds "the list says what it is" grep -q 'It accuses nobody' "$scratch/pages/index.html"
holds "names are text, not markup" bash -c '! grep -l "<b>evil" "$1"/*.html' names "$scratch/pages"
holds "both sides are marked" bash -c '[ "$(grep -o "class=\"m[123]\"" "$1" | wc -l)" -ge 20 ] && grep -q "id=\"a0-" "$1" && grep -q "id=\"b0-" "$1"' marks "$scratch/pages/pair-1.html"
holds "each link has its target" "$python" -c 'import re, sys
page = open(sys.argv[1]).read()
ids = set(re.findall(r"id=\"([^\"]+)\"", page))
links = re.findall(r"href=\"#([^\"]+)\"", page)
sys.exit(0 if links and not set(links) - ids else f"{len(set(links) - ids)} of {len(links)} links lead nowhere")' "$scratch/pages/pair-1.html"
