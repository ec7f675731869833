#!/bin/bash
# The first hour of docs/instructors.md: its commands as they stand there, in order, on a class of four. Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
chmod 755 "$scratch"
term=$scratch/term
mkdir -p "$term"/submissions/{ann,bob,cleo}/lab1_naive
printf 'id,name,email,section\nann,Ann Lee,ann@example.org,A\nbob,Bob,bob@example.org,B\ncleo,Cleo,cleo@example.org,B\nzoe,Zoe,zoe@example.org,A\n' >"$term/roster.csv"
cp lab1_naive/solution/gemm.cu "$term/submissions/ann/lab1_naive"
cp lab1_naive/gemm.cu "$term/submissions/bob/lab1_naive"
sed 's/c(row, col) = sum;/c(row, col) = sum + 1;/' lab1_naive/solution/gemm.cu >"$term/submissions/cleo/lab1_naive/gemm.cu"

number=0
while IFS= read -r command; do
    number=$((number + 1))
    case $command in
    'make '*) holds "$command" bash -c "${command//term\//$term/} BUILD='$build' </dev/null" ;;
    *) bad "no make: $command" ;;
    esac
done < <(sed -n '/^## The first hour/,/^## Handing out/s/^\$ \(.*[^ ]\) *# needs a class$/\1/p' docs/instructors.md)
holds "the page has the whole path" test "$number" -ge 9
holds "what counts is there" test -s "$(find "$term/collected" -name gemm.cu | head -n 1)"
same "the grades" "ann,GRADED,25 bob,GRADED,0 cleo,GRADED,5 zoe,NO_SUBMISSION,0" "$(sed -n '2,$s/^\([^,]*,[^,]*,[^,]*\),.*/\1/p' "$term/grades/grades.csv" | xargs)"
holds "the report" grep -q 'zoe' "$term/grades/report/index.html"
same "a page for each" 4 "$(find "$term/grades/report/students" -name '*.html' | wc -l)"
holds "the gradebook" grep -q 'ann@example.org' "$term/grades/export/moodle.csv"
page=$(grep -l '<h1>Ann Lee' "$term"/grades/report/students/*.html)
holds "ann's page shows what her lines moved" grep -q 'what each line moved' "$page"
holds "and leads from there to each" grep -q 'href="#lab1_naive-gemm-[0-9]*">[0-9]*</a></td>' "$page"
same "both regrades are kept beside the result" 2 "$(python3 -c 'import json, sys
print(sum(len(json.load(open(path)).get("previous", [])) for path in sys.argv[1:]))' "$term"/grades/results/*.json)"
same "and the next lab is out" 3 "$(find "$term/course" -maxdepth 1 -name 'lab*' -type d | wc -l)"
fails "who is not in the class cannot be graded again" any "nobody in this class is called 'dan'" make regrade STUDENT=dan OUT="$term/grades" BUILD="$build"
