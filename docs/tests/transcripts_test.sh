#!/bin/bash
# What the chapters show of the terminal, and the goals beside the solutions' counts, are what the commands print today.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../grader/tests/shell.bash"
# shellcheck source=grader/tests/browser.bash
. "$(dirname "$0")/../../grader/tests/browser.bash"
# Where nothing has changed that they depend on, test.sh says to leave them out.
case " ${LEFT_OUT:-} " in
*' captures '*) ;;
*) looks "all of them were captured" 900 /usr/bin/env python3 docs/transcripts/capture.py --check ;;
esac

# A transcript that no chapter shows is a leftover.
for file in docs/transcripts/lab*.txt docs/transcripts/sim-*.txt; do
    name=$(basename "$file" .txt)
    holds "$name is on a page" grep -rqE "\{transcript\} $name\$|:from: $name\$" docs --include='*.md'
done
for log in docs/transcripts/h200-*.txt; do
    name=$(basename "$log" .txt)
    holds "$name is on a page" grep -rqE "\{ladder\} $name\$" docs --include='*.md'
done
