#!/bin/bash
# How long a student waits, on a copy of this tree where nothing is built: for the first `make check LAB=1`, for
# all labs' solutions when nothing of them is compiled yet, with nothing changed, and after an edit of a kernel and of a launcher of each lab
# (the last of its longest file). The solutions are judged where they are: they are the longest way. Seconds on the
# clock, and of all processors together; the latter hardly depend on what else the machine does.
set -u
copy=$(mktemp -d) || exit 3
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM
git ls-files -z | xargs -0 cp --parents -t "$copy" || exit 3
cd "$copy" || exit 3
# A student's compiler: no cache, whatever the author's environment says.
unset BUILD MAKEFLAGS MAKELEVEL CXX QUICK_CXX PRECOMPILED UNITS
export CCACHE_DISABLE=1
solution=
[ ! -d "$(echo lab1_*/solution)" ] || solution=SOLUTION=1
# seconds COMMAND...: leaves elapsed and processor. A skeleton may fail, which make says behind it; that it was judged must be
# seen. A solution may not, edited or not: a stage that fails is run again each time, and its time is not that of an edit.
seconds() {
    local TIMEFORMAT='%R %U %S'
    local took status
    took=$({ time "$@" >log 2>&1 </dev/null; } 2>&1)
    status=$?
    grep -q '^next: ' log || { tail -n 20 log; echo "error: $* did not come to its end" >&2; exit 1; }
    [[ $* != *SOLUTION=1* ]] || [ $status -eq 0 ] || { tail -n 40 log; echo "error: a solution fails in $*" >&2; exit 1; }
    read -r elapsed processor <<<"$(awk '{ printf "%.1f %.1f", $1, $2 + $3 }' <<<"$took")"
}
# A line more at the beginning of the last kernel of a file: that one has to be compiled again.
edit_kernel() { # FILE NUMBER
    if ! awk -v number="$2" '
        FNR == NR { if (/__global__/) last = FNR; next }
        { print }
        FNR >= last && !done && /\{ *$/ { print "  if (gridDim.z == " 1000 + number "u) return;"; done = 1 }
    ' "$1" "$1" >edited || ! grep -q "gridDim.z == $((1000 + $2))u" edited; then
        echo "error: no kernel was found in $1" >&2
        exit 1
    fi
    mv edited "$1"
}
# A line more at the beginning of the last launcher of a file.
edit_launcher() { # FILE NUMBER
    if ! awk -v number="$2" '
        FNR == NR { if (/cudaStream_t stream\) \{ *$/) last = FNR; next }
        { print }
        FNR == last { print "  static_assert(" 1000 + number " > 0, \"\");" }
    ' "$1" "$1" >edited || ! grep -q "static_assert($((1000 + $2)) > 0" edited; then
        echo "error: no launcher was found in $1" >&2
        exit 1
    fi
    mv edited "$1"
}
# The middle of three times after an edit.
after() { # edit_kernel|edit_launcher FILE LAB
    : >took
    for edit in 1 2 3; do
        "$1" "$2" "$edit"
        # shellcheck disable=SC2086
        seconds make check LAB="$3" $solution
        echo "$elapsed $processor" >>took
    done
    read -r elapsed processor <<<"$(sort -n took | sed -n 2p)"
}
line() { printf '%-54s %6s s %8s s %6s s\n' "$@"; }

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg) at the start"
printf '%-54s %8s %10s %8s\n' '' clock processor aim
seconds make check LAB=1
line 'first build, make check LAB=1' "$elapsed" "$processor" 60
rm -rf build/cache
# shellcheck disable=SC2086
seconds make check $solution
line "all labs, no kernel compiled yet, make check $solution" "$elapsed" "$processor" 75
# shellcheck disable=SC2086
seconds make check $solution
line "nothing changed, make check $solution" "$elapsed" "$processor" ''
for lab in lab[0-9]*_*; do
    number=${lab#lab}
    number=${number%%_*}
    # The longest of the lab's files.
    file=$(wc -c "$lab"/${solution:+solution/}*.cu | grep '\.cu$' | sort -rn | awk 'NR == 1 { print $2 }')
    case $number in 1) aim=1 ;; [234]) aim=2.5 ;; *) aim=4 ;; esac
    after edit_kernel "$file" "$number"
    line "a kernel of $file" "$elapsed" "$processor" "$aim"
    after edit_launcher "$file" "$number"
    line "a launcher of it" "$elapsed" "$processor" "$aim"
done
