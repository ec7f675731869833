#!/bin/bash
# What the chapters show of the terminal, and the goals beside the solutions' counts, are what the commands print today.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../grader/tests/shell.bash"
/usr/bin/env python3 docs/transcripts/capture.py --check >"$scratch/log" 2>&1
status=$?
while IFS= read -r line; do
    case $line in
    'ok '*) good "${line#ok }" ;;
    'FAILED '*) bad "${line#FAILED }" ;;
    *) echo "        $line" ;;
    esac
done <"$scratch/log"
same "all of them were captured" 0 $status

# A transcript that no chapter shows is a leftover.
for file in docs/transcripts/lab*.txt; do
    name=$(basename "$file" .txt)
    holds "$name is on a page" grep -rqE "\{transcript\} $name\$|:from: $name\$" docs --include='*.md'
done
for log in docs/transcripts/h200-*.txt; do
    name=$(basename "$log" .txt)
    holds "$name is on a page" grep -rqE "\{ladder\} $name\$" docs --include='*.md'
done
