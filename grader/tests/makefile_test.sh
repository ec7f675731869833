#!/bin/bash
# The Makefile's front: settings, help, doctor, set-up, build folders and paths. Builds nothing big.
# shellcheck disable=SC2016
# shellcheck source=grader/tests/shell.bash
. "$(dirname "$0")/shell.bash"
quiet_make() { make -s BUILD="$scratch/build" "$@" </dev/null; }

# ---- settings
fails "LAB=99 is one clear error" 2 'LAB=99: there is no such lab here' quiet_make help LAB=99
fails "LAB=lab99_x is the same" 2 'no such lab here' quiet_make help LAB=lab99_x
fails "LABS=99 too" 2 'LABS=99: there is no such lab here' quiet_make help LABS="1 99"
holds "LAB=1, LAB=lab1, LAB=lab1_naive and a list do" bash -c '
    for lab in 1 lab1 lab1_naive lab1_naive/ "1 lab2"; do make -s help LAB="$lab" || exit 1; done'
fails "DEVICE=tpu is one clear error" 2 'DEVICE=tpu: not a device; choose auto, sim or gpu' quiet_make help DEVICE=tpu
fails "SOLUTION=yes is one clear error" 2 'SOLUTION=yes: choose 0 or 1' quiet_make help SOLUTION=yes
fails "a misspelt setting is not ignored" 2 'unknown setting lab;' quiet_make help lab=1
chosen() { env "$@" make -s BUILD="$scratch/build" --eval='chosen: ; @echo "$(ARCH) [$$ARCH_CHOSEN]"' chosen </dev/null; }
same "ARCH= in the environment is somebody's choice" "86 [1]" "$(chosen -u ARCH_CHOSEN ARCH=86)"
same "unless a make has passed its own on" "86 []" "$(chosen ARCH=86 ARCH_CHOSEN=)"
same "or somebody's" "86 [1]" "$(chosen ARCH=86 ARCH_CHOSEN=1)"
fails "a blank in BUILD is explained" 2 'blank' make -s help BUILD="$scratch/a b"
fails "an old make is told so" 2 'GNU make 4 or newer is needed, this is 3.81' make MAKE_VERSION=3.81
fails "a misspelt command is told so" 2 "there is no command 'chekc'; make help lists all" quiet_make chekc
holds "every message is one line" bash -c 'for s in LAB=99 DEVICE=x SOLUTION=x lab=1 MAKE_VERSION=3.81; do
    [ "$(make -s help $s 2>&1 | wc -l)" = 1 ] || { echo $s; exit 1; }; done'

fails "make explain asks which lab" any 'which lab\? make explain LAB=1' quiet_make explain
fails "and takes one at a time" any 'which lab' quiet_make explain LAB="1 2"
fails "make explain LAB=9 is one clear error" 2 'LAB=9: there is no such lab here' quiet_make explain LAB=9
fails "make explain knows no DEVICE=tpu" 2 'not a device' quiet_make explain LAB=1 DEVICE=tpu

# ---- without a GPU: what is needed, at once and in one line, before anything is built. $scratch/build has no programs.
at_once() { DEVICE=sim timeout 20 make -s BUILD="$scratch/build" "$@" </dev/null; }
fails "make sweep without a GPU" 2 'make sweep needs an NVIDIA GPU and nvcc' at_once sweep LAB=3
same "that is its one line, with what to do instead" 1 "$(at_once sweep LAB=3 2>&1 | grep -v '^make' | grep -c 'MEASURED=docs/results/h200/sweep-lab3.json')"
fails "make calibrate is told the same" 2 'make calibrate needs an NVIDIA GPU and nvcc' at_once calibrate
holds "neither has built anything" bash -c '! ls "$1"/bin/* 2>/dev/null' sh "$scratch/build"
# Nothing can be built with this compiler, so what is said before stands alone in front of that error.
first_line() { at_once "$1" CXX=/nonesuch 2>&1 | head -n 1; }
same "make bench says it first" "make bench: no NVIDIA GPU with nvcc here (make doctor): only the CPU is timed. Your kernels: make check counts what they do" \
    "$(first_line bench)"
same "make report too" "make report: no NVIDIA GPU with nvcc here (make doctor): the page shows what is counted and leaves speeds out" "$(first_line report)"

# ---- without Python: the same, before an hour of grading whose pages nobody could write
for command in report "grade SUBMISSIONS=$scratch" "similar SUBMISSIONS=$scratch" "regrade STUDENT=anna" autograder; do
    # shellcheck disable=SC2086
    fails "make ${command%% *} without Python" 2 'nonesuch not found, which writes the pages: sudo apt-get install' at_once $command PYTHON=nonesuch
done
holds "none of them has built anything" bash -c '! ls "$1"/bin/* 2>/dev/null' sh "$scratch/build"

# ---- help
says "make alone prints help" 'make check' make -s
holds "help fits 80 columns" bash -c '! make -s help | grep -qE "^.{81}"'
make -s -p -q help >"$scratch/rules" 2>/dev/null
holds "every target in the help has a rule" bash -c '
    for target in $(make -s help | sed -n "s/^  make \([a-z-]*\) .*/\1/p"); do
        grep -q "^$target:" "$1" || { echo "$target"; exit 1; }
    done' rules "$scratch/rules"

# ---- progress: a stand-in for make has five steps, of which the dry run tells
mkdir "$scratch/steps"
cat >"$scratch/steps/Makefile" <<'RULES'
.PHONY: all
all: a b c d e
%: ; @[ -z "$$GEMM_LAB_STEPS" ] || sh grader/scripts/step.sh '$@'; touch $(BUILD)/$@
VPATH = $(BUILD)
RULES
building() { BUILD="$scratch/steps" MAKE=make sh grader/scripts/build.sh -s -f "$scratch/steps/Makefile" "$@" 2>&1; }
same "a build counts its steps, in plain lines where nobody looks" "[1/5] a [2/5] b [3/5] c [4/5] d [5/5] e" "$(building all | paste -sd' ')"
same "and only those that there are" "[1/2] c [2/2] e" "$(rm "$scratch/steps/"[ce] && building all | paste -sd' ')"
same "nothing to do says nothing" "" "$(building all)"
same "a hundred steps are eleven lines" 11 "$(building $(seq 101 200) | wc -l)"
fails "what cannot be built fails" 2 "there is no command 'chekc'" env BUILD="$scratch/steps" MAKE=make sh grader/scripts/build.sh -s chekc

# ---- build folder
touch "$scratch/file"
fails "a build folder that cannot be made is one clear error" 3 "cannot write to the build folder" \
    env BUILD="$scratch/file/build" sh grader/scripts/gate.sh
same "and nothing else is printed" 2 "$(BUILD="$scratch/file/build" sh grader/scripts/gate.sh 2>&1 | wc -l)"
mkdir "$scratch/mine"
touch "$scratch/mine/thesis"
fails "make clean leaves a folder alone that it did not make" any 'not made by this project' make clean BUILD="$scratch/mine"
holds "which is still there" test -f "$scratch/mine/thesis"
holds "a build folder is tagged" env BUILD="$scratch/own" sh grader/scripts/gate.sh
holds "make clean removes its own" bash -c 'make -s clean BUILD="$1" && [ ! -e "$1" ]' clean "$scratch/own"

# ---- a path with blanks
mkdir "$scratch/a path with blanks"
cp -R Makefile VERSION mk .clangd lab* common grader "$scratch/a path with blanks/"
says "help works in a path with blanks" 'make check' make -s -C "$scratch/a path with blanks"
holds "a build works in a path with blanks" bash -c 'cd "$1" && make -s build/bin/skeleton && build/bin/skeleton regions lab1_naive/solution/gemm.cu' \
    blanks "$scratch/a path with blanks"
holds "compile_commands.json is well-formed there" bash -c 'cd "$1" && make -s compdb && (! command -v jq >/dev/null || jq -e "length > 5" compile_commands.json)' \
    blanks "$scratch/a path with blanks"

# ---- the same clone, at another place: nothing names the old one
mkdir -p "$scratch/a path with blanks/build/lib"
touch "$scratch/a path with blanks/build/lib/libsimgpu_cudart_separate.a"
same "where nothing has changed, nothing is built" "" "$(make -s -n -C "$scratch/a path with blanks" build/bin/skeleton build/lib/libsimgpu_cudart_separate.a 2>&1)"
mv "$scratch/a path with blanks" "$scratch/moved"
touch "$scratch/moved/grader/author/skeleton/skeleton_main.cpp"
same "in a clone that was moved, what has changed is compiled and nothing else" grader/author/skeleton/skeleton_main.cpp \
    "$(make V=1 -C "$scratch/moved" build/bin/skeleton 2>&1 | sed -n 's/.* -c \([^ ]*\) -o .*/\1/p; /rror\|\*\*\*/p')"
holds "and it runs" "$scratch/moved/build/bin/skeleton" regions lab1_naive/solution/gemm.cu
says "what has to name a place is made for the new one" 'ar rcs build/lib/libsimgpu_cudart_separate.a' \
    make -n -C "$scratch/moved" build/lib/libsimgpu_cudart_separate.a
same "a common header that has changed is still known to be in what was compiled" 2 \
    "$(touch "$scratch/moved/common/standard.hpp"; make -n V=1 -C "$scratch/moved" build/bin/skeleton | grep -c ' -c ')"

# ---- machines that lack something. A folder of links stands for a PATH without the program.
path_without() { # FOLDER NAME...: links to every program but those whose name matches
    mkdir -p "$1"
    local folder pattern
    for folder in /bin /usr/bin /usr/local/bin; do
        [ -d "$folder" ] && find "$folder/" -mindepth 1 -maxdepth 1 -exec ln -sf -t "$1" {} +
    done
    for pattern in "${@:2}"; do
        find "$1" -name "$pattern" -delete
    done
}
# The farms are links to this machine's own programs: never write through one, always put a new file in its place.
program() { # FILE LINE...: a shell script of these lines
    rm -f "$1"
    printf '%s\n' '#!/bin/sh' "${@:2}" >"$1"
    chmod +x "$1"
}
clean_gate() { env -u CI -u YES BUILD="$scratch/gate" "$@" sh grader/scripts/gate.sh; }
path_without "$scratch/noclang" 'clang++*' 'sudo'
as_user() { # the PATH given, `id -u` says 1000
    program "$1/id" 'echo 1000'
    clean_gate PATH="$1" "${@:2}"
}
fails "no clang and no root: the one command" 3 'make setup' as_user "$scratch/noclang"
fails "it names what is missing" 3 'not installed: clang\.' as_user "$scratch/noclang"
fails "CLANG=nonesuch is one clear error" 3 'CLANG=nonesuch: no such program' clean_gate CLANG=nonesuch CLANG_CHOSEN=1
fails "CXX=nonesuch is one clear error" 3 'CXX=nonesuch: does not start' clean_gate CXX=nonesuch CXX_CHOSEN=1
# A compiler that sees no library at all: each of them is named.
program "$scratch/bookless" 'exec g++ -nostdinc "$@"'
fails "each missing library is named" 3 'not installed: Catch2, CLI11, nlohmann-json, toml\+\+, \{fmt\}, zlib, OpenMP\.' \
    as_user "$scratch/noclang" CLANG="$(sh -c '. grader/scripts/lib.sh; command -v "$CLANG"')" CXX="$scratch/bookless"
# Libraries of a DEPS folder stand in for installed ones, in the compiler's and in the linker's line.
says "DEPS gives headers" '-isystem /opt/libraries/include' make -n V=1 DEPS=/opt/libraries BUILD="$scratch/deps" "$scratch/deps/obj/grader/main.o"
says "and libraries, found again when the program starts" '-L/opt/libraries/lib -Wl,-rpath,/opt/libraries/lib -lfmt -lz' \
    make -n V=1 DEPS=/opt/libraries BUILD="$scratch/deps" "$scratch/deps/bin/grader"
pretend_clang() { program "$scratch/pretended" "echo '$1'"; }
pretend_clang 'Debian clang version 11.0.1-2'
fails "an old clang is told so" 3 'version 11.0.1; 14 or newer' clean_gate CLANG="$scratch/pretended" CLANG_CHOSEN=1
pretend_clang 'Apple clang version 15.0.0 (clang-1500.3.9.4)'
fails "Apple's clang is told so" 3 "Apple's clang" clean_gate CLANG="$scratch/pretended" CLANG_CHOSEN=1
for banner in 'Ubuntu clang version 18.1.3 (1ubuntu1)' 'clang version 22.1.8' 'Homebrew clang version 19.1.7'; do
    pretend_clang "$banner"
    holds "$banner will do" clean_gate CLANG="$scratch/pretended" CLANG_CHOSEN=1
done

# ---- set-up, with a package manager that puts back what is missing
path_without "$scratch/bare" 'clang++*' 'sudo' 'apt-get' 'apt-cache'
clang=$(sh -c '. grader/scripts/lib.sh; command -v "$CLANG"')
program "$scratch/bare/apt-get" "echo \"\$*\" >>'$scratch/apt.log'" \
    "case \"\$*\" in *install*) ln -sf '$clang' '$scratch/bare/clang++' ;; esac"
program "$scratch/bare/apt-cache" 'echo "  Candidate: 1:14.0-55"'
printf 'ID=debian\n' >"$scratch/os-debian"
printf 'ID=fedora\n' >"$scratch/os-fedora"
bare() { env -u CI -u YES -u CLANG -u CXX PATH="$scratch/bare" BUILD="$scratch/gate" OS_RELEASE="$scratch/os-debian" "$@" </dev/null; }
program "$scratch/bare/id" 'echo 1000'
fails "without root, sudo or question set-up prints what to ask for" 3 'apt-get install -y clang$' bare sh grader/scripts/setup.sh
fails "another system gets its own command" 3 'dnf install' bare OS_RELEASE="$scratch/os-fedora" sh grader/scripts/setup.sh
program "$scratch/bare/sudo" 'exit 1'
touch "$scratch/apt.log"
fails "sudo that wants a password, YES=1: the command" 3 'sudo apt-get install -y clang$' bare YES=1 sh grader/scripts/setup.sh
same "nothing was installed so far" 0 "$(wc -l <"$scratch/apt.log")"
program "$scratch/bare/id" 'echo 0'
holds "as root the gate installs without a question" bare sh grader/scripts/gate.sh
same "only what is missing" "install -y --no-install-recommends clang" "$(grep install "$scratch/apt.log")"
says "then there is nothing to do" 'Everything is installed' bare sh grader/scripts/setup.sh
rm "$scratch/bare/clang++"
program "$scratch/bare/apt-get" 'echo "Err:1 Temporary failure resolving"; echo "E: Unable to locate package clang"; exit 100'
fails "no network is one clear error" 3 'could not be reached \(no network\?\)' bare sh grader/scripts/setup.sh

# ---- doctor
says "doctor: everything is here" 'Nothing is missing' sh grader/scripts/doctor.sh
says "doctor says which device and why" 'make check takes (sim|gpu): ' sh grader/scripts/doctor.sh
fails "doctor names what is missing and the command" 3 'make setup' env PATH="$scratch/noclang" sh grader/scripts/doctor.sh
printf 'Linux version 5.15.90.1-microsoft-standard-WSL2\n' >"$scratch/wsl"
says "doctor warns of a clone on the Windows disk" 'Windows disk' env PROC_VERSION="$scratch/wsl" HERE=/mnt/c/gemm sh grader/scripts/doctor.sh
holds "not of one in the Linux home" bash -c '! PROC_VERSION="$1" HERE=/home/me/gemm sh grader/scripts/doctor.sh | grep -q Windows' wsl "$scratch/wsl"
holds "nor of /mnt/c on plain Linux" bash -c '! PROC_VERSION=/dev/null HERE=/mnt/c/gemm sh grader/scripts/doctor.sh | grep -q Windows'
program "$scratch/oldmake" 'echo "GNU Make 3.81"'
fails "doctor knows an old make" 3 '3.81; 4 or newer is needed' env MAKE="$scratch/oldmake" sh grader/scripts/doctor.sh
if command -v jq >/dev/null; then
    says "doctor --json is JSON" '"ok"' bash -c 'sh grader/scripts/doctor.sh --json | jq .components.clang.state'
    holds "and says what to install" bash -c 'PATH="$1" sh grader/scripts/doctor.sh --json | jq -e ".install | contains(\"clang\")"' json "$scratch/noclang"
fi

# ---- the runner of the tests: it must never call a failure a success
printf 'echo "3 passed, 0 failed"\n' >"$scratch/good.sh"
printf 'echo "1 passed, 2 failed"; exit 1\n' >"$scratch/bad.sh"
printf 'exit 0\n' >"$scratch/silent.sh"
printf 'echo "3 passed, 0 failed"; exit 1\n' >"$scratch/liar.sh"
program "$scratch/v2_tests" 'echo "test cases: 7 | 5 passed | 2 failed"; echo "assertions: - none -"; exit 2'
program "$scratch/green_tests" 'echo "All tests passed (91 assertions in 9 test cases)"'
program "$scratch/one_tests" 'echo "All tests passed (1 assertion in 1 test case)"'
program "$scratch/crash_tests" 'kill -SEGV $$'
last() { bash grader/scripts/test.sh "$@" | tail -n 1; }
same "adds up" "13 passed, 0 failed" "$(last "$scratch/good.sh" "$scratch/green_tests" "$scratch/one_tests")"
same "counts failures" "6 passed, 4 failed" "$(last "$scratch/bad.sh" "$scratch/v2_tests")"
same "a silent test failed" "0 passed, 1 failed" "$(last "$scratch/silent.sh")"
same "a bad exit status is a failure" "3 passed, 1 failed" "$(last "$scratch/liar.sh")"
same "a crash is a failure" "9 passed, 1 failed" "$(last "$scratch/green_tests" "$scratch/crash_tests")"
same "no tests is a failure" "0 passed, 1 failed" "$(last)"
fails "and the exit status says so" 1 '' bash grader/scripts/test.sh "$scratch/liar.sh"
holds "or not" bash grader/scripts/test.sh "$scratch/good.sh"

# ---- the record of a check, with programs that stand for make and nvidia-smi
mkdir -p "$scratch/stand-in" "$scratch/recorded/grader/author"
cp -R grader/scripts "$scratch/recorded/grader/"
cp grader/author/record_check.sh "$scratch/recorded/grader/author/"
git -C "$scratch/recorded" init -q && git -C "$scratch/recorded" add -A && git -C "$scratch/recorded" commit -qm one
commit=$(git -C "$scratch/recorded" rev-parse --short=12 HEAD)
driver() { program "$scratch/stand-in/nvidia-smi" "$@"; }
printed() { # STATUS LINE...: a make that ends so, and prints what every check on a GPU does, and these lines
    printf '%s\n' 'GPU: NVIDIA H200 (sm_90), the only one here; driver 580.1, CUDA' '13.0, cuBLAS 13.1. Points come from sim, as on every machine.' '' \
        'gemm-lab check · lab1_naive · sim · clang 14.0.6' '' "${@:2}" >"$scratch/printed"
    program "$scratch/stand-in/make" "printf '%s|' \"\$@\" >'$scratch/asked'" "cat '$scratch/printed'" 'echo "on stderr" >&2' "exit $1"
}
record() { (cd "$scratch/recorded" && env -u GEMM_LAB_COMMIT -u MAKE PATH="$scratch/stand-in:$PATH" bash grader/author/record_check.sh check.txt "$@"); }
recorded() { sed -E "s/ [0-9]+ cores, [0-9]+ s,/ C cores, S s,/; s/^# [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC/# DATE/" "$scratch/recorded/check.txt"; }
kept() { same "$1" "old; check.txt grader" "$(cd "$scratch/recorded" && cat check.txt && echo "; $(echo *)")"; }

printf old >"$scratch/recorded/check.txt"
driver 'echo 580.1'
printed 2 'error: nvcc does not start'
fails "a check that could not be run is no record" 3 'could not be run on a GPU \(exit status 2\)' record
kept "the old one stays, and no other file"
printed 0 '23 of 23 stages done'
fails "nor is one without a GPU" 3 'could not be run on a GPU' record
kept "the old one stays then, too"
printed 0 'on the GPU: 23 of 23 stages right'
driver 'echo 570.2'
fails "nor one on another driver" 3 "another driver than nvidia-smi's 570.2" record
driver 'exit 9'
fails "without a GPU make is not asked" 3 'no GPU' bash -c 'rm "$1"; "${@:2}"; status=$?; [ ! -e "$1" ] && exit $status' asked "$scratch/asked" \
    env -C "$scratch/recorded" -u GEMM_LAB_COMMIT PATH="$scratch/stand-in:$PATH" bash grader/author/record_check.sh check.txt
kept "the old one stays after all of them"
driver 'echo 580.1'
fails "a file is asked for first" 4 'usage: ' bash grader/author/record_check.sh LAB=5
fails "in a folder that is there" 3 'no such folder' bash grader/author/record_check.sh "$scratch/none/check.txt"

says "one that passed is" 'on the GPU: 23 of 23' record
same "make was asked for the solutions on the GPU" 'check|SOLUTION=1|DEVICE=gpu|' "$(cat "$scratch/asked")"
same "behind a head, as it was printed" "# make check SOLUTION=1 DEVICE=gpu, as printed on one NVIDIA H200
# driver 580.1, CUDA 13.0, clang 14.0.6, C cores, S s, exit status 0
# DATE, commit $commit
$(cat "$scratch/printed")" "$(recorded)"
printed 2 'on the GPU: 22 of 23 stages right; speed: 18 ok, 1 too slow'
echo more >>"$scratch/recorded/grader/scripts/lib.sh.new"
fails "a failure is a result, and the status is the check's" 2 'too slow' record 'LAB=1 5' CLANG=/opt/clang
same "settings are passed on" 'check|SOLUTION=1|DEVICE=gpu|LAB=1 5|CLANG=/opt/clang|' "$(cat "$scratch/asked")"
same "the head tells all but the machine's paths, and that something was changed" "# make check SOLUTION=1 DEVICE=gpu LAB=1\\ 5, as printed on one NVIDIA H200
# driver 580.1, CUDA 13.0, clang 14.0.6, C cores, S s, exit status 2
# DATE, commit $commit+changes" "$(recorded | head -n 3)"
fails "a commit can be given" 2 'too slow' env -C "$scratch/recorded" -u MAKE GEMM_LAB_COMMIT=abc123 PATH="$scratch/stand-in:$PATH" bash grader/author/record_check.sh check.txt
holds "and is named" grep -qx '# .* UTC, commit abc123' "$scratch/recorded/check.txt"

# ---- watch
mkdir "$scratch/watched"
echo one >"$scratch/watched/gemm.cu"
WATCH=$scratch/watched setsid sh grader/scripts/watch.sh echo checked >"$scratch/watch.log" 2>&1 </dev/null &
watch=$!
await() { # COUNT: until so many checks were made, at most 20 s
    for _ in $(seq 200); do
        [ "$(grep -c checked "$scratch/watch.log")" -ge "$1" ] && return 0
        sleep 0.1
    done
    return 1
}
holds "watch checks at once" await 1
echo two >"$scratch/watched/gemm.cu"
holds "and after a save" await 2
echo noise >"$scratch/watched/.gemm.cu.swp"
touch "$scratch/watched/gemm.cu"
sleep 3
same "not after a save that changed nothing, nor for an editor's own files" 2 "$(grep -c checked "$scratch/watch.log")"
mv "$scratch/watched/gemm.cu" "$scratch/watched/gemm.cu~" && echo three >"$scratch/watched/gemm.cu"
holds "after a save by renaming" await 3
kill -TERM "$watch"
wait "$watch"
same "and ends without an error" 0 $?
