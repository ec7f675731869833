#!/bin/bash
# What the README shows is what the commands print, and what it names exists. Needs BUILD with the grader in it.
# With --write it brings the README's transcripts up to date instead.
# shellcheck disable=SC2016
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
grader=${BUILD:-build}/bin/grader

# The compiler's version is the machine's, and a GPU may be there.
neutral() { sed -e 's/clang [0-9.]*$/clang/' -e 's/ · sim ([^)]*)/ · sim/' -e '/^\$ make/d'; }
shown() { # COMMAND: the block behind "<!-- output of: COMMAND -->"
    awk -v mark="<!-- output of: $1 -->" '
        $0 == mark { found = 1; next }
        found && /^```/ { if (inside) exit; inside = 1; next }
        found && inside' README.md | neutral
}
if [ "${1:-}" = --write ]; then
    "$grader" check --device sim --lab 1 >"$scratch/lab1" 2>/dev/null
    "$grader" check --device sim --solution >"$scratch/all" 2>/dev/null
    awk -v lab1="$scratch/lab1" -v all="$scratch/all" '
        /^<!-- output of: / { command = $0; gsub(/<!-- output of: | -->/, "", command); next_block = 1 }
        /^```/ && next_block && !inside {
            print; print "$ " command
            file = command ~ /SOLUTION/ ? all : lab1
            while ((getline line <file) > 0) print line
            inside = 1; next
        }
        /^```/ && inside { inside = next_block = 0 }
        !inside' README.md >"$scratch/README.md" && cp "$scratch/README.md" README.md
    exit
fi
same "make check LAB=1" "$(shown 'make check LAB=1')" "$("$grader" check --device sim --lab 1 2>/dev/null | neutral)"
fails "a stage of another lab" 4 'stage 1.1 belongs to lab 1, not to lab 2' "$grader" check --device sim --lab 2 --stage 1.1
fails "it ends with 1" 1 'not started' "$grader" check --device sim --lab 1
says "make check SOLUTION=1 ends with 0" 'next: make submit' "$grader" check --device sim --solution
same "make check SOLUTION=1" "$(shown 'make check SOLUTION=1')" "$(neutral <"$scratch/.out")"

for file in README.md grader/course/handout_README.md CONTRIBUTING.md; do
    for target in $(grep -oE '\bmake [a-z][a-z-]*' "$file" | sort -u | cut -d' ' -f2); do
        case $target in sure | up | it) continue ;; esac
        holds "$file: make $target exists" bash -c 'make -s -p -q help 2>/dev/null | grep -q "^$1:"' rule "$target"
    done
    for link in $(grep -v '^    ' "$file" | grep -oE '\]\([^)#]*\)' | tr -d '](' | tr -d ')'); do
        # `make handout` builds these pages from the ones here.
        case $link in tutorial/*.html) link=${link#tutorial/} link=docs/${link%.html}.md ;; esac
        holds "$file: $link exists" test -e "$link"
    done
done
counts=$scratch/counts.md
holds "README.md: the table of counts is made" sh -c 'python3 grader/plots/tables.py docs/results/h200/counts.json >"$1"' table "$counts"
promised=$(grep -E '^\| (global (load|store|atomic)|cp.async|multiply-adds|tensor ops)' $counts)
for counter in 'global load requests' 'global load sectors' 'global store sectors' 'cp.async sectors' 'multiply-adds f32' 'tensor ops bf16'; do
    holds "README.md: $counter stand in the table" grep -qF "| $counter |" <<<"$promised"
done
# All counters that it promises, launch by launch.
same "README.md: in so many launches both counted the same" "$(python3 -c '
import json, re, sys
launches = json.load(open("docs/results/h200/counts.json"))["launches"]
promised = re.compile("global|cp.async|multiply-adds|tensor ops")
equal = [all(pair["hardware"] == pair["simulated"] for counter, pair in launch["counts"].items() if promised.match(counter)) for launch in launches]
print(sum(equal), "of", len(equal))')" "$(sed -n 's/.*\[\([0-9]* of [0-9]*\) launches on an H200\].*/\1/p' README.md)"
for number in lab[0-9]*_*; do
    holds "README.md names $number" grep -q "$number" README.md
done
