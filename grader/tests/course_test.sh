#!/bin/bash
# make grade COURSE=: points, late days and dropped stages, without grading anybody again who need not be. Needs BUILD.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
[ -x "$build/bin/grade" ] || { bad "no grade: make BUILD='$build' grade-programs"; exit 1; }
chmod 755 "$scratch" # users of boxes have to get in
mkdir -p "$scratch"/in/{ann,bob,cleo}/lab1_naive
cp lab1_naive/solution/gemm.cu "$scratch/in/ann/lab1_naive"
cp lab1_naive/solution/gemm.cu "$scratch/in/bob/lab1_naive"
sed 's/c(row, col) = sum;/c(row, col) = sum + 1;/' lab1_naive/solution/gemm.cu >"$scratch/in/cleo/lab1_naive/gemm.cu"
mkdir "$scratch/in/cleo/lab5_tensor_core"
cp lab5_tensor_core/wmma.cu "$scratch/in/cleo/lab5_tensor_core"
printf 'id,late days\nann,\nbob,2\ncleo,0\nzoe,3\n' >"$scratch/roster.csv"
out=$scratch/out
course() { cat >"$scratch/course.toml"; }
grade() { # OPTIONS...: what is on the table, a word for each student
    "$build/bin/grade" --root . --build "$build" "$scratch/in" --roster "$scratch/roster.csv" --out "$out" "$@" >"$scratch/said" 2>&1 ||
        { cat "$scratch/said"; return 1; }
    sed -n '2,$s/^\([^,]*\),[^,]*,\([^,]*\),.*/\1 \2/p' "$out/grades.csv" | tr '\n' ' '
}
again() { grep -c '^\[.*GRADED$' "$scratch/said"; }

same "without a course the labs' points" "ann 25 bob 25 cleo 5 zoe 0 " "$(grade)"
times=$(stat -c %Y "$out"/results/*.json)
same "twice the same leaves the records alone" "ann 25 bob 25 cleo 5 zoe 0 $times" "$(grade)$(stat -c %Y "$out"/results/*.json)"
course <<'END'
[points]
"1.0" = 2.5
"1.2" = 30
[late]
free_days = 1
cost_percent = 10
END
same "other points, and days that cost" "ann 42.5 bob 38.25 cleo 2.5 zoe 0 " "$(grade --course "$scratch/course.toml")"
same "nobody was graded again for it" 0 "$(again)"
holds "what lateness took is said" grep -q '2 days late: 4.25 points less' "$scratch/said"
holds "and stands in both tables" bash -c 'head -1 "$1/grades.csv" | grep -q ",late,late_days,late_cost," && grep -q "\"late_cost\": 4.25" "$1/grades.json"' tables "$out"
holds "and in the records" bash -c 'grep -l "\"late_cost\": 4.25" "$1"/results/*.json' records "$out"
"${PYTHON:-python3}" grader/course/report/report.py "$out" >"$scratch/.out"
holds "and on the student's page" grep -rq '2 days late: 4.25 points less' "$out/report/students"
# One file of a lab that has four.
page=$(grep -l '<title>cleo' "$out"/report/students/*.html)
holds "of a lab in several files those stand on the page whose file was handed in" grep -q '>4 stages, none tried yet' "$page"
holds "and no others" bash -c '[ -e "$1" ] && ! grep -q "<h3>5.3 " "$1"' page "$page"
same "and count as failed by nobody" 0 "$(sed -n 's|^<tr><td>5.3 .*<td class="number">\([0-9]*\)</td><td></td></tr>|\1|p' "$out/report/index.html")"
same "a regrade knows the course" "ann 42.5 bob 38.25 cleo 2.5 zoe 0 " "$(grade --course "$scratch/course.toml" --regrade cleo)"
course <<'END'
drop = ["1.1"]
speed = "bonus"
[speed_points]
"1.2" = 3
END
same "a dropped stage is gone, and locks nothing" "ann 15 bob 15 cleo 5 zoe 0 " "$(grade --course "$scratch/course.toml")"
holds "also from the table" bash -c '! head -1 "$1/grades.csv" | grep -q ",1.1,"' table "$out"
holds "speed that nobody measured gives and takes nothing, and it is said" grep -q '^speed: course.toml gives points' "$scratch/said"
printf 'extra_seeds = 1\ndrop = ["1.1"]\n' | course
same "further inputs" "ann 15 bob 15 cleo 5 zoe 0 " "$(grade --course "$scratch/course.toml")"
same "are a second grading" 3 "$(again)"
fails "the example holds, on the labs as they are" 1 'score 0/30 points' "$build/bin/grader" --build "$build" check --device sim --lab 1 \
    --file lab1_naive/gemm.cu --course grader/course/course.toml
printf '[late]\ncost_percent = 110\n' | course
fails "a value that means nothing is one line" 4 '^error: .*course.toml:2: "cost_percent" must be from 0 to 100$' "$build/bin/grade" --root . --build "$build" "$scratch/in" \
    --out "$out" --course "$scratch/course.toml"
printf 'id,late days\nann,soon\n' >"$scratch/roster.csv"
fails "late days are a number" 4 'roster.csv:2: late days are a number from 0 to 1000, not soon' "$build/bin/grade" --root . --build "$build" "$scratch/in" \
    --out "$out" --roster "$scratch/roster.csv"
