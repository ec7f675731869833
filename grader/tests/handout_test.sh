#!/bin/bash
# What a handout says to type can be typed there: every target of its `make help`, every command in its texts, and every
# "next:" that those print, in a handout of all labs and in one of the first two, without a GPU. Needs BUILD with the
# programs: what is compiled there is used again.
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
build=$(cd "${BUILD:-build}" && pwd) || exit 3
for program in skeleton grader bench; do
    [ -x "$build/bin/$program" ] || { bad "no $build/bin/$program: make all"; exit 1; }
done
numbers=$(for lab in lab[0-9]*_*; do n=${lab%%_*}; echo "${n#lab}"; done | sort -n | paste -sd' ')
# What only authors and staff can type is a command as well, so that a text which names it is found.
everywhere=$(make -s help | sed -n 's/^  make \([a-z-]*\).*/\1/p' | sort -u | paste -sd'|')

# What make says when a command cannot be what the text means by it, and how a program ends that fell over.
nonsense='No rule to make target|unknown setting|there is no such lab|not a device|command not found|No such file or directory|Traceback|terminate called|is not known|Run with --help|core dumped'

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
    (cd "$here" && eval "timeout -k 2 $(case $command in 'make watch'*) echo 5 ;; *) echo 300 ;; esac) $command -s BUILD='$students'" \
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
    holds "a handout of labs $*" env SKELETON="$build/bin/skeleton" DOCS=0 bash grader/course/handout.sh "$here" "$@"
    mkdir "$students"
    for part in obj lib bin flags headers CACHEDIR.TAG; do [ ! -e "$build/$part" ] || cp -a "$build/$part" "$students/"; done
    # Linked anew: its labs are fewer.
    rm -f "$students"/bin/{grader,bench}
    find "$here" -name .git -prune -o -type f -exec touch -d 2001-01-01 {} +

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
    (cd "$here" && git ls-files | grep -vE '\.json$|^LICENSE|\.csv$|^mk/|^tutorial/' | while IFS= read -r file; do
        case $file in
        *.cpp | *.hpp | *.cu | *.cuh) sed -E 's,(^|[ ;])//.*,,' "$file" ;;
        *.sh | *.py | *.toml | Makefile | .devcontainer/*) grep -v '^ *#' "$file" ;;
        *) cat "$file" ;;
        esac
    done; sed -n "s/.*\(echo\|error\) '\?\(.*\)/\2/p" mk/*.mk) >"$scratch/texts"
    grep -oE "\bmake ($everywhere)\b( [A-Z]+=(\{[a-z]+\}|[A-Za-z0-9_./]*[A-Za-z0-9_]|\"[0-9 ]+\")?)*" "$scratch/texts" | with_gaps >>"$scratch/queue"
    holds "its texts name commands" test "$(sort -u "$scratch/queue" | wc -l)" -ge 15

    : >"$scratch/tried"
    while command=$(sed 's/ *$//' "$scratch/queue" | grep -vxFf "$scratch/tried" | head -n 1) && [ -n "$command" ]; do
        echo "$command" >>"$scratch/tried"
        case $command in 'make clean') continue ;; esac
        sensible "$command"
    done
    sensible 'make clean'
    holds "that removes what was built" test ! -e "$students"

    # ---- files that its messages name
    same "every file that it names is there" "" "$(cd "$here" && grep -ohE '\b(grader|docs|common|mk|examples|tutorial)/[A-Za-z0-9_./-]*[a-z]' \
        grader/messages.toml README.md | sort -u | while IFS= read -r path; do [ -e "$path" ] || echo "$path"; done)"
}
# shellcheck disable=SC2086
try all $numbers
try first 1 2
