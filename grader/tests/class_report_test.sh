#!/bin/bash
# The report of a class: names made to harm a page, 500 students, what a browser makes of it.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
# shellcheck source=grader/tests/browser.bash
. "$(dirname "$0")/browser.bash"
python=${PYTHON:-python3}
grades=$scratch/grades
"$python" grader/tests/report_class.py "$grades" 500
says "a class of 500 gets its report" "report: .*report/index.html" timeout 60 "$python" grader/course/report/report.py "$grades"
looks "the pages are read to the end" 60 "$python" grader/tests/class_report.py "$grades/report"
holds "what a person should look at is there, of each kind" "$python" - "$grades/report/index.html" <<'END'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
for kind in ("suspect", "different on the simulated and the real GPU", "inconclusive", "not judged: the machine&#x27;s fault"):
    assert re.search(f"<summary>{kind}: [1-9]", page), kind
END
holds "whose files do not count is there to be looked at" grep -q '<summary>handed in, but not counted, which costs points: 14<' "$grades/report/index.html"
holds "and with what a file seems to be" grep -q 'student030)</a></td><td></td><td>extra: .* (an empty file)<' "$grades/report/index.html"
holds "a file with brackets in its name is no such file" test "$(grep -c 'notes (final)' "$grades/report/index.html")" = 0
holds "each line stands with what it moved" grep -q '▲ 4&#8239;096, ideal 1&#8239;024' "$grades/report/students/s00034.html"
says "a class that no GPU has seen" "report: " bash -c '"$1" grader/tests/report_class.py "$2" 20 sim && "$1" grader/course/report/report.py "$2"' - "$python" "$scratch/sim"
looks "its pages are read to the end" 60 "$python" grader/tests/class_report.py "$scratch/sim/report"
same "a page per student" 500 "$(find "$grades/report/students" -name '*.html' | wc -l)"
holds "the page of all stays small" test "$(stat -c %s "$grades/report/index.html")" -lt 1000000
holds "what stood before a regrade stands beside it" grep -q 'before it was graded again: failed' "$grades/report/students/s00009.html"
rm "$grades/results/s00499.json"
"$python" - "$grades" <<'END'
import json, sys
path = sys.argv[1] + "/grades.json"
grades = json.load(open(path))
del grades["students"][499]
grades["protection"] = "limits alone"
grades["students"][0]["undecided"] = ["1.0"]
json.dump(grades, open(path, "w"))
END
"$python" grader/course/report/report.py "$grades" >/dev/null
holds "what nobody measured is there to be looked at" grep -q '<td>1.0</td><td>not measured on the GPU' "$grades/report/index.html"
same "who is no more in the class has no page" 499 "$(find "$grades/report/students" -name '*.html' | wc -l)"
same "less than a box is said on every page" 500 "$(grep -l 'class="warning">Graded with less' -r "$grades/report" | wc -l)"
fails "a folder without grades is one line" 1 '^error: no grades in' "$python" grader/course/report/report.py "$scratch"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
    echo "left out: the report in a browser (needs chromium)"
else
    # Run as the page loads: what the script left visible, and whether a name ran.
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=2000 --dump-dom "file://$grades/report/index.html" \
        >"$scratch/dom.html" 2>/dev/null
    same "50 rows are shown at first" 50 "$(grep -c '^<tr data-tags="[^"]*"><td>' "$scratch/dom.html")"
    holds "the others wait for the filter" grep -q '499 of 499, the first 50 shown' "$scratch/dom.html"
    holds "no name has run" grep -q '<title>The class</title>' "$scratch/dom.html"
fi
if find_browser "the look of the report"; then
    looks "the look of the report" 300 "$python" grader/tests/class_browser.py "$browser" "$grades/report"
fi
