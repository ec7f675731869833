#!/bin/bash
# sass.sh GRADER LAB RUNG TYPE ARCH [--solution]: the machine code that nvcc makes of a rung's kernels, and the main loop, the
# one with the most arithmetic in the fewest instructions: how many of each instruction, and its first lines from a load on.
# Needs nvcc and cuobjdump, no GPU.
set -u
# shellcheck source=grader/scripts/lib.sh
. "$(dirname "$0")/lib.sh"
grader=$1 lab=$2 rung=$3 type=$4 arch=$5
shift 5
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || fail "make sass needs nvcc: install the CUDA toolkit, or set NVCC=. The tutorial's pages show what it prints"
PATH="$PATH:$(dirname "$(command -v "$nvcc")")"
command -v cuobjdump >/dev/null || fail "make sass needs cuobjdump, which comes with the CUDA toolkit"

work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
"$grader" unit --lab "$lab" --rung "$rung" ${type:+--type "$type"} "$@" >"$work/unit.cu" || exit
[ "$arch" != 90 ] || arch=90a # the same code, and the instructions that only sm_90a has
"$nvcc" -std=c++17 -O3 -I. -cubin -arch="sm_$arch" "$work/unit.cu" -o "$work/unit.cubin" || fail "nvcc cannot compile this file"

version=$("$nvcc" --version | sed -n 's/.*release \([^,]*\),.*/\1/p')
sed -n "s/^template void \\(.*\\)(MatrixView<const \\([a-z_0-9:]*\\)>, .*/\\1<\\2>, nvcc $version, sm_$arch/p" "$work/unit.cu"
{
    cuobjdump -res-usage "$work/unit.cubin" 2>&1 | awk '/Function/ { name = $2; sub(":$", "", name) } match($0, /REG:[0-9]+/) { print "registers", name, substr($0, RSTART + 4, RLENGTH - 4) }'
    cuobjdump -sass "$work/unit.cubin"
} | c++filt | awk -v lines=12 '
# What a loop is for: tensor operations before multiply-adds of threads before those of integers, which addresses are made of too.
function weight(op) {
    return op ~ /^(HMMA|HGMMA|DMMA|IMMA)/ ? 1000 : op ~ /^(FFMA|DFMA)/ ? 10 : op ~ /^IMAD$/ ? 1 : 0
}
function first_of(op) { return times[op] + (weight(op) >= 10 ? 1e6 : 0) } # arithmetic comes first
function opcode(line) { sub(/^@!?U?P[0-9T]+ /, "", line); sub(/[ ;].*/, "", line); return line }
function short(name) { sub(/^void /, "", name); sub(/\(MatrixView.*/, "", name); sub(/\(CUtensorMap.*/, "", name); return name }
/^registers / { count = $NF; name = $0; sub(/^registers /, "", name); sub(/ [0-9]+$/, "", name); registers[name] = count; next }
/Function : / { name = $0; sub(/.*Function : /, "", name); kernels[++k] = name; next }
match($0, /\/\*[0-9a-f]+\*\//) && /;/ {
    at = substr($0, RSTART + 2, RLENGTH - 4); text = substr($0, RSTART + RLENGTH)
    sub(/^ */, "", text); sub(/ *;.*/, "", text)
    if (text ~ /^@!PT /) next # never executed: it keeps a place
    place[k, at] = ++size[k]; code[k, size[k]] = text
}
END {
    for (f = 1; f <= k; ++f) {
        for (i = 1; i <= size[f]; ++i) {
            sum[f, i] = sum[f, i - 1] + weight(opcode(code[f, i]))
            target = code[f, i]
            if (opcode(target) !~ /^BRA/ || !sub(/.* 0x/, "", target)) continue
            while (length(target) < 4) target = "0" target
            if (!((f, target) in place)) continue
            from = place[f, target]
            work = from > i ? 0 : (sum[f, i] - sum[f, from - 1]) ^ 2 / (i - from + 1) # much, and little else
            if (work > best[f]) { best[f] = work; begin[f] = from; to[f] = i }
        }
        if (best[f] >= best[shown]) shown = f
    }
    for (f = 1; f <= k; ++f) {
        printf "%s: %d instructions, %s registers\n", short(kernels[f]), size[f], registers[kernels[f]]
        if (f != shown || !best[f]) continue
        printf "  its main loop, %d instructions:\n", to[f] - begin[f] + 1
        for (i = begin[f]; i <= to[f]; ++i) { op = opcode(code[f, i]); if (!times[op]++) order[++kinds] = op }
        for (n = 1; n <= kinds && n <= 8; ++n) {
            most = ""
            for (i = 1; i <= kinds; ++i) if (!done[order[i]] && first_of(order[i]) > first_of(most)) most = order[i]
            done[most] = 1
            printf "    %6d %s\n", times[most], most
        }
        first = begin[f]
        while (first < to[f] && opcode(code[f, first]) !~ /^(LDS|LDG|LDSM|LDGSTS|HGMMA)/) ++first
        print "  from it:"
        for (i = first; i <= to[f] && i < first + lines; ++i) print "    " code[f, i]
    }
}'
