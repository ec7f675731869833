#!/bin/sh
# handout_files.sh LIST LAB_NUMBER...: the files of the last commit that LIST (see handout.list) gives to students when
# these labs are out, one path a line. A line of LIST that names nothing is an error. PROGRAMS: set if the programs come
# along; empty: their sources. GPU=0: not what a GPU needs beside the programs.
set -u
list=$1
shift
parts=sources
if [ -n "${PROGRAMS:-}" ]; then
    parts=programs
    [ "${GPU:-}" = 0 ] || parts="$parts gpu"
fi
git ls-tree -r --name-only HEAD | awk -v list="$list" -v labs="$*" -v parts="always $parts" '
    function regex(glob) {
        gsub(/[.+()^$|{}]/, "[&]", glob)
        gsub(/\*/, "[^/]*", glob)
        return "^" glob (glob ~ /\/$/ ? "" : "$")
    }
    BEGIN {
        split(labs, numbers, " ")
        for (i in numbers) released[numbers[i]] = 1
        split(parts, names, " ")
        for (i in names) chosen[names[i]] = 1
        part = "always"
        while ((getline line < list) > 0) {
            sub(/[ \t]*#.*/, "", line)
            if (line ~ /^\[[a-z]+\]$/) part = substr(line, 2, length(line) - 2)
            else if (line != "") { entry[++n] = line; pattern[n] = regex(line); given[n] = part in chosen }
        }
        if (!n) { print "error: " list " names nothing" | "cat >&2"; bad = 1 }
    }
    {
        wanted = 0
        for (i = 1; i <= n; ++i) if ($0 ~ pattern[i]) { used[i] = 1; if (given[i]) wanted = 1 }
        if (!wanted) next
        # Of a folder labN_name, N must be out.
        if (!match($0, /^lab[0-9]+_/) || substr($0, 4, RLENGTH - 4) in released) print
    }
    END {
        for (i = 1; i <= n; ++i) if (!used[i]) { print "error: " list ": " entry[i] " names no file of the last commit" | "cat >&2"; bad = 1 }
        exit bad
    }'
