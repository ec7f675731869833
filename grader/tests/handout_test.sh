#!/bin/bash
# What a handout says to type can be typed there: every target of its `make help`, every command in its texts, and every
# "next:" that those print, in a handout of all labs and in one of the first two, without a GPU, and with no compiler but
# clang. Its programs run on another system, and go with its labs. Needs BUILD with all that is compiled for them.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
for program in skeleton grader bench simgpu_device; do
    [ -x "$build/bin/$program" ] || { bad "no $build/bin/$program: make all"; exit 1; }
done
numbers=$(for lab in lab[0-9]*_*; do n=${lab%%_*}; echo "${n#lab}"; done | sort -n | paste -sd' ')
# What only authors and staff can type is a command as well, so that a text which names it is found.
everywhere=$(make -s help | sed -n 's/^  make \([a-z-]*\).*/\1/p' | sort -u | paste -sd'|')

# What make says when a command cannot be what the text means by it, and how a program ends that fell over.
nonsense='No rule to make target|there is no command|nothing here makes it|unknown setting|there is no such lab|not a device|command not found|No such file or directory|Traceback|terminate called|is not known|Run with --help|core dumped'

# A machine with clang and without g++: one that is called is noticed.
mkdir "$scratch/bin"
for program in g++ c++ gcc cc; do
    printf '#!/bin/sh\necho "$0 $*" >>"%s"\nexit 1\n' "$scratch/compilers" >"$scratch/bin/$program"
    chmod +x "$scratch/bin/$program"
done
: >"$scratch/compilers"
path=$scratch/bin:$PATH
export NVCC=$scratch/no-nvcc # which would call a compiler that a student need not have
root=$PWD
grep -v '^ *#' grader/messages.toml >"$scratch/messages" # what the programs say
handout() { make -s BUILD="$build" handout DOCS=0 "$@"; } # with the compilers that BUILD was made with
student() { env -u CXX -u QUICK_CXX -u DEPS DEVICE=sim PATH="$path" make -s -C "$here" BUILD="$students" "$@" </dev/null; }

# sensible COMMAND: runs it in the handout $here. Without a GPU and with nothing solved it ends well, or says why not.
sensible() {
    local command=$1 status words=
    case $command in
    'make check'*) words='not started' ;;
    'make run'*DEVICE=gpu*) words='no CUDA device' ;;
    'make run' | 'make explain' | 'make reset') words='which lab\?' ;;
    'make run'* | 'make explain'*) words='WRONG|not started' ;;
    'make hint') words='of which stage\?' ;;
    'make sim') words='run which program\?' ;;
    'make bench'*) words='GPU' ;;
    'make sass') words='of which rung' ;;
    'make sass'*) words='make sass needs' ;;
    esac
    # Files that are made for the test, and no seconds for the ear of a terminal.
    (cd "$here" && unset CXX QUICK_CXX DEPS && PATH=$path && eval "timeout -k 2 $(case $command in 'make watch'*) echo 5 ;; *) echo 300 ;; esac) $command -s BUILD='$students'" \
        "$(case $command in *DEVICE=*) ;; *) echo DEVICE=sim ;; esac)") >"$scratch/said" 2>&1 </dev/null
    status=$?
    # "next: make check   or: make hint STAGE=1.0", and "Next: make check" at the end of a sentence.
    sed -nE 's/^next: //p; s/^.*Next: (make .*)$/\1/p' "$scratch/said" | sed 's/ *or: */\n/' | grep '^make ' >>"$scratch/queue"
    if grep -qE "$nonsense" "$scratch/said"; then
        bad "$command" "$(tail -n 20 "$scratch/said")"
    elif [ "$status" = 0 ] || { [ "$status" = 124 ] && [[ $command == 'make watch'* ]]; }; then
        good "$command"
    elif [ "$status" = 2 ] && [ -n "$words" ] && grep -qE "$words" "$scratch/said"; then
        good "$command: says '$words'"
    else
        bad "$command" "exit status $status${words:+, no '$words' in}" "$(tail -n 20 "$scratch/said")"
    fi
}

# with_gaps: the commands on stdin, their gaps filled with what is there.
with_gaps() {
    sed -E "s/\{lab\}/1/g; s/\{rung\}/gemm_naive/g; s/\{stage\}/1.0/g; s/STAGE=( |\$)/STAGE=1.0\1/; s/LAB=( |\$)/LAB=1\1/; s/RUNG=name/RUNG=gemm_naive/"
}

try() { # NAME LAB...
    here=$scratch/$1
    students=$scratch/$1-build
    shift
    holds "a handout of labs $*" handout LABS="$*" OUT="$here"
    tools=$here/tools/$(uname -m)
    # Programs older than every source, and newer: nothing makes them again.
    find "$here" -name .git -prune -o -type f -exec touch -d 2001-01-01 {} +
    touch -d 1999-01-01 "$tools"/*
    cksum "$tools"/* >"$scratch/tools"

    # ---- what make help lists
    targets=$(make -s -C "$here" help | sed -n 's/^  make \([a-z-]*\).*/\1/p')
    holds "make help lists commands" test "$(wc -w <<<"$targets")" -ge 12
    same "none of them is staff's or authors'" "" "$(make -s -C "$here" help | grep -E '^(Course staff|Authors)')"
    for target in $targets; do
        case $target in
        run | sass) echo "make $target LAB=1 RUNG=gemm_naive" ;;
        explain | reset | check | watch) echo "make $target LAB=1" ;;
        hint) echo 'make hint STAGE=1.0' ;;
        sim) echo 'make sim FILE=examples/vector_add.cu' ;;
        clean) ;; # the last
        *) echo "make $target" ;;
        esac
    done >"$scratch/queue"

    # ---- what its texts say: everything but comments, generated pages and measurements
    (cd "$here" && git ls-files | grep -vE '\.json$|^LICENSE|\.csv$|^mk/|^tutorial/|^tools/' | while IFS= read -r file; do
        case $file in
        *.cpp | *.hpp | *.cu | *.cuh) sed -E 's,(^|[ ;])//.*,,' "$file" ;;
        *.sh | *.py | *.toml | Makefile | .devcontainer/*) grep -v '^ *#' "$file" ;;
        *) cat "$file" ;;
        esac
    done; cat "$scratch/messages"; sed -n "s/.*\(echo\|error\) '\?\(.*\)/\2/p" mk/*.mk) >"$scratch/texts"
    grep -oE "\bmake ($everywhere)\b( [A-Z]+=(\{[a-z]+\}|[A-Za-z0-9_./]*[A-Za-z0-9_]|\"[0-9 ]+\")?)*" "$scratch/texts" | with_gaps >>"$scratch/queue"
    holds "its texts name commands" test "$(sort -u "$scratch/queue" | wc -l)" -ge 15

    # ---- the first thing a student types: one file is compiled, and that is all
    fails "the first make check" 2 'not started' student check LAB=1
    same "compiles one file" '[1/1] libsimgpu_cudart_remote.a' "$(grep '^\[' "$scratch/.out")"
    fails "the second" 2 'not started' student check LAB=1
    same "none" '' "$(grep '^\[' "$scratch/.out")"
    touch "$here/common/simgpu/runtime/api/state.hpp"
    fails "and one after a change of what is compiled there" 2 'not started' student check LAB=1
    same "that file again" '[1/1] libsimgpu_cudart_remote.a' "$(grep '^\[' "$scratch/.out")"

    : >"$scratch/tried"
    while command=$(sed 's/ *$//' "$scratch/queue" | grep -vxFf "$scratch/tried" | head -n 1) && [ -n "$command" ]; do
        echo "$command" >>"$scratch/tried"
        case $command in 'make clean') continue ;; esac
        sensible "$command"
    done
    same "no compiler but clang was called" "" "$(cat "$scratch/compilers")"
    sensible 'make clean'
    holds "that removes what was built" test ! -e "$students"
    same "and the programs are as they were given out" "$(cat "$scratch/tools")" "$(cksum "$tools"/*)"

    # ---- files that its messages name
    same "every file that it names is there" "" "$(cd "$here" && grep -ohE '\b(grader|docs|common|mk|examples|tutorial)/[A-Za-z0-9_./-]*[a-z]' \
        "$scratch/messages" README.md | sort -u | while IFS= read -r path; do [ -e "$path" ] || echo "$path"; done)"
}
# What the list names for nvcc is what its programs include, no less and no more. (clang reads them, with the simulated
# GPU's headers in the place of CUDA's.)
included_by() { "${CLANG:-clang++}" -x c++ -std=c++20 -I. -Icommon/simgpu/include -MM "$@" | tr -s ' \\' '\n' | grep / | grep -v '^common/simgpu/include/' | sort -u; }

# shellcheck disable=SC2086
try all $numbers
# Commands about labs that a handout does not have are found on its pages, however they are written there.
mkdir -p "$scratch/pages/more"
echo '<p>Then <code>make check <span>LAB</span>=<span>6</span></code>, or make check LAB=1.</p>' >"$scratch/pages/a.html"
echo '<pre>make run RUNG=gemm_mma LAB=5 M=64' >"$scratch/pages/more/b.html"
echo '<pre>make hint STAGE=6.4.1 and make handout LABS=&quot;1 6&quot; and make check LAB=61, measured by make sweep LAB=5' >"$scratch/pages/c.html"
same "commands of labs that are not there" "a.html: make check LAB=6
c.html: make hint STAGE=6.4.1
more/b.html: make run RUNG=gemm_mma LAB=5" "$(bash grader/course/named_labs.sh 'check|run|hint' '5|6' "$scratch/pages")"
same "and none of another lab" "" "$(bash grader/course/named_labs.sh 'check|run|hint' 4 "$scratch/pages")"
listed() { sh grader/course/handout_files.sh grader/course/handout.list 1; }
gpu_files=$(comm -13 <(GPU=0 PROGRAMS=1 listed | sort) <(PROGRAMS=1 listed | sort))
cd "$here" || exit 3
holds "nvcc's programs find what they include" included_by grader/*/*.cu
same "and there is nothing else for them" "$gpu_files" "$(included_by grader/*/*.cu | grep '^grader/')"
cd "$root" || exit 3

# ---- what its examples and the solutions come to there
students=$scratch/solved-build
for file in examples/*.cu; do
    [ ! -e "$here/$file" ] || says "make sim FILE=$file" 'ended with status 0, no findings' student sim FILE="$file"
done
for lab in lab[0-9]*_*; do cp "$lab"/solution/*.cu "$here/$lab/"; done
says "the solutions pass there" 'next: make submit' student check
same "every stage of them" "$(cat lab*/lab.toml | grep -c '^\[\[stage\]\]')" "$(sed -n 's/^\([0-9]*\) of .* stages done.*/\1/p' "$scratch/.out")"
git -C "$here" checkout -q .

# ---- how large it is: the tutorial aside, which is pages, and lab 6, which is a bonus
files=$(git -C "$here" ls-files | grep -v -e '^tutorial/' -e '^lab6_')
holds "at most 300 files" test "$(wc -l <<<"$files")" -le 300
holds "at most 40,000 lines" test "$(cd "$here" && grep -v '^tools/' <<<"$files" | tr '\n' '\0' | xargs -0 cat | wc -l)" -le 40000

# ---- its programs need nothing of this system: they run where there is nothing else
for program in grader bench simgpu_device; do
    says "$program is static" 'not a dynamic executable|statically linked' bash -c 'ldd "$1" 2>&1; true' ldd "$tools/$program"
done
if command -v bwrap >/dev/null && bwrap --ro-bind / / true 2>/dev/null; then
    alone() { bwrap --unshare-all --ro-bind "$here" /course --dev /dev --proc /proc --tmpfs /tmp --clearenv --chdir /course "$@"; }
    says "the grader runs with no file but the handout's" '.' alone "/course/tools/$(uname -m)/grader" --build /tmp/build hint --stage 1.0
    fails "and misses nothing but the compiler" 3 'clang' alone "/course/tools/$(uname -m)/grader" --build /tmp/build check --lab 1
    says "so does bench" 'Usage|usage' alone "/course/tools/$(uname -m)/bench" --help
    fails "and the simulated GPU" 2 'a program for the simulated GPU starts this' alone "/course/tools/$(uname -m)/simgpu_device"
else
    echo "note: no bubblewrap here: whether the programs run on another system was not tried"
fi

# ---- one clear line where programs and labs do not go together
students=$scratch/odd-build
sed -i 's/^title = .*/title = "another"/' "$here"/lab1_*/lab.toml
fails "a lab.toml of another version" 2 'lab1_naive/lab.toml is not of the version that the programs in tools/.* grade' student check LAB=2
fails "make doctor says it too" 0 'programs +missing +lab1_naive/lab.toml' student doctor
git -C "$here" checkout -q .
cp -R "$here/$(cd "$here" && echo lab2_*)" "$here/lab77_later"
fails "a lab that came later" 2 'lab77_later/lab.toml is not of the version' student check LAB=1
rm -rf "$here/lab77_later"
chmod -x "$tools"/*
fails "programs that came without their right to be executed" 2 'chmod \+x tools/' student check LAB=1
chmod +x "$tools"/{grader,bench,simgpu_device}
mv "$tools" "$here/tools/pdp11"
fails "none for this machine" 2 "this handout has programs for pdp11, but this machine is $(uname -m)" student check LAB=1
fails "doctor asks for no libraries there" 0 'programs +missing' student doctor
same "none" "" "$(grep -E 'Catch2|toml|CLI11' "$scratch/.out")"
says "and make help works" 'make check' student help
mv "$here/tools/pdp11" "$tools"

# ---- without what a GPU needs, and with sources
holds "a handout with GPU=0" handout LABS="$numbers" OUT="$here" GPU=0
students=$scratch/gpu-build
same "GPU=0: no source for nvcc" "" "$(cd "$here" && ls grader/gpu grader/bench 2>/dev/null)"
fails "make check DEVICE=gpu says so" 2 'made without what runs on a GPU' student check DEVICE=gpu
holds "SOURCES=1 on top of it" handout LABS="$numbers" OUT="$here" SOURCES=1
holds "has the grader's sources" test -e "$here/grader/main.cpp"
holds "and no programs" test ! -e "$here/tools"

try first 1 2
