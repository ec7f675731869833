#!/bin/bash
# The tutorial's commands are typed in a fresh copy of what is tracked: every `$ make ...` of its pages that does not say
# "# needs ..." behind it, and those in the first column of the tables of docs/start.md and README.md. Only the build
# folder is the one that is there, so that nothing is compiled twice.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/../../grader/tests/shell.bash"
case ${BUILD:-build} in /*) build=$BUILD ;; *) build=$PWD/${BUILD:-build} ;; esac
pages=$(find docs -name '*.md' -not -path 'docs/results/*' | sort)

git clone -q . "$scratch/lab" || exit 3
git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- --ignore-failed-read 2>/dev/null | tar -x -C "$scratch/lab"
cd "$scratch/lab" || exit 3
commands=$(
    # shellcheck disable=SC2086
    awk '/^```console/ { inside = 1; next } /^```/ { inside = 0 } inside && /^\$ make / { sub(/^\$ /, ""); print }' $pages |
        grep -v '# needs ' | sed 's/ *#.*//'
    # docs and setup: site_test.sh and every run of CI do that. bench, sweep and calibrate need a GPU.
    sed -n 's/^| `\(make [^`]*\)`.*/\1/p' docs/start.md README.md | grep -vE '^make (docs|serve|setup|bench|sweep|calibrate|report)'
)
commands=$(awk '!seen[$0]++' <<<"$commands")
count=0
while IFS= read -r command; do
    [ -n "$command" ] || continue
    count=$((count + 1))
    command=${command//\/tmp\//$scratch/}
    limit=300
    case $command in *' watch'* | *' serve'*) limit=5 ;; esac
    timeout -k 2 "$limit" bash -c "$command BUILD='$build'" >"$scratch/out" 2>&1 </dev/null
    status=$?
    case $command in
    'make watch'* | 'make serve'*) same "$command runs until it is stopped" 124 $status ;;
    'make check'* | 'make run'* | 'make explain'*)
        # A skeleton that is not done ends with 2; what is wrong with the command itself says "error:".
        if [ $status -le 2 ] && ! grep -q '^error:' "$scratch/out" && grep -qE '^next: |not started|result WRONG' "$scratch/out"; then good "$command"; else bad "$command" "exit status $status" "$(tail -n 20 "$scratch/out")"; fi
        ;;
    *) if [ $status -eq 0 ]; then good "$command"; else bad "$command" "exit status $status" "$(tail -n 20 "$scratch/out")"; fi ;;
    esac
done <<<"$commands"
holds "there are commands on the pages" test "$count" -ge 8

# Commands in running text: their targets exist.
for target in $(grep -ohE '`make [a-z][a-z-]*' $pages | sort -u | cut -d' ' -f2); do
    holds "make $target exists" bash -c 'make -s -p -q help 2>/dev/null | grep -q "^$1:"' rule "$target"
done
