#!/bin/bash
# make sass: which loop it takes for the main one, what it leaves out, and what it says where something is missing. The tools of
# the CUDA toolkit are scripts here, which print machine code as cuobjdump does.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=${BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac

mkdir "$scratch/tools" "$scratch/none"
cat >"$scratch/tools/nvcc" <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit; }
echo "$@" >"$(dirname "$0")/asked"
END
cat >"$scratch/tools/cuobjdump" <<'END'
#!/bin/bash
kernel=_Z12naive_kernelIfEv10MatrixViewIKT_ES3_S0_IS1_E
if [ "$1" = -res-usage ]; then
    printf 'Fatbin:\n Function %s:\n  REG:32 STACK:0 SHARED:0 LOCAL:0\n Function _Z5otherv:\n  REG:8 STACK:0\n' $kernel
    exit
fi
# kernel, then instructions from address 0 on, each with the encoding behind it
dump() {
    local at=0 line
    printf '\t\tFunction : %s\n\t.headerflags\t@"EF_CUDA_SM90"\n' "$1"
    while IFS= read -r line; do
        printf '        /*%04x*/                   %s ;   /* 0x0123456789abcdef */\n%60s/* 0x0 */\n' $at "$line" ''
        at=$((at + 16))
    done
}
dump _Z5otherv <<<'EXIT'
# An outer loop from 0x10 to 0xb0, the inner one from 0x20 to 0x80; an integer loop; the end that jumps to itself.
dump $kernel <<'CODE'
LDC R1, c[0x0][0x28]
IMAD R2, R2, R3, R4
LDG.E R5, desc[UR6][R12.64]
@!PT LDS RZ, [RZ]
LDG.E R6, desc[UR6][R14.64]
FFMA R7, R5, R6, R7
FFMA R8, R5, R6.reuse, R8
ISETP.NE.AND P0, PT, R9, RZ, PT
@P0 BRA 0x20
MOV R8, R5
MOV R3, R4
@P1 BRA 0x10
IMAD R2, R2, R3, R4
@P1 BRA 0xc0
EXIT
BRA 0xf0
CODE
END
chmod +x "$scratch"/tools/*

sass() { PATH="$scratch/tools:$PATH" NVCC=nvcc bash grader/scripts/sass.sh "$build/bin/grader" "$@"; }
said=$(sass 1 gemm_naive "" 90)
says "a rung in its main type, the compiler and the architecture" '^gemm_naive<float>, nvcc 13.0, sm_90a$' cat <<<"$said"
says "the kernel by its short name" '^naive_kernel<float>: 15 instructions, 32 registers$' cat <<<"$said"
says "a kernel without a loop has no main loop" '^other\(\): 1 instructions, 8 registers$' cat <<<"$said"
same "one main loop is shown" 1 "$(grep -c 'its main loop' <<<"$said")"
says "it is the inner one, without what is never executed" 'its main loop, 6 instructions:' cat <<<"$said"
same "arithmetic comes first" "2 FFMA" "$(sed -n '/its main loop/{n;s/^ *//p;}' <<<"$said")"
same "then what there is most of" "2 LDG.E" "$(sed -n '/its main loop/{n;n;s/^ *//p;}' <<<"$said")"
same "its lines begin with a load" "LDG.E R5, desc[UR6][R12.64]" "$(sed -n '/from it:/{n;s/^ *//p;}' <<<"$said")"
same "and end with the loop" "@P0 BRA 0x20" "$(tail -n 1 <<<"$said" | sed 's/^ *//')"
sass 1 gemm_naive double 80 >/dev/null
says "another architecture is asked for by its number" 'arch=sm_80 ' cat "$scratch/tools/asked"

fails "an unknown rung" 4 'has no rung|gemm_naive' sass 1 gemm_nothing "" 90
fails "an unknown type" 4 'has no type quad' sass 1 gemm_naive quad 90
fails "no nvcc" 3 'make sass needs nvcc' env NVCC="$scratch/none/nvcc" bash grader/scripts/sass.sh "$build/bin/grader" 1 gemm_naive "" 90
rm "$scratch/tools/cuobjdump"
if ! command -v cuobjdump >/dev/null && [ ! -e "$(dirname "$(command -v nvcc || echo /none/nvcc)")/cuobjdump" ]; then
    fails "no cuobjdump" 3 'make sass needs cuobjdump' sass 1 gemm_naive "" 90
fi
fails "make sass without a rung asks for one" 2 'of which rung' make -s sass LAB=1
