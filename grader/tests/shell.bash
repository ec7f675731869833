# Sourced by the shell tests: cases, expectations, a scratch folder that goes away, and the closing line.
# shellcheck shell=bash
set -u
passed=0
failed=0
scratch=$(mktemp -d) || exit 3
# A test that starts something ends it in a function of its own of this name.
at_end() { :; }
trap 'at_end; rm -rf "$scratch"; echo "$passed passed, $failed failed"; [ "$failed" -eq 0 ] || exit 1' EXIT

# Handouts are made of the files as they are.
export UNCOMMITTED=1

# No settings of the caller's may reach the makes and gits under test.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES LAB LABS SOLUTION DEVICE OUT COURSE V YES FORCE ONLY CXX_CHOSEN CLANG_CHOSEN
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=Staff GIT_AUTHOR_EMAIL=staff@localhost GIT_COMMITTER_NAME=Staff GIT_COMMITTER_EMAIL=staff@localhost

good() { passed=$((passed + 1)); echo "ok      $1"; }
bad() {
    failed=$((failed + 1))
    echo "FAILED  $1"
    [ $# -lt 2 ] || printf '        %s\n' "${@:2}"
}

# holds NAME COMMAND...: the command succeeds.
holds() {
    if "${@:2}" >"$scratch/.out" 2>&1; then good "$1"; else bad "$1" "${*:2}" "$(cat "$scratch/.out")"; fi
}

# fails NAME STATUS WORDS COMMAND...: it ends with STATUS and prints WORDS (an extended regular expression).
# STATUS any: any but 0.
fails() {
    "${@:4}" >"$scratch/.out" 2>&1
    local status=$?
    if { [ "$2" = any ] && [ $status -ne 0 ]; } || [ "$status" = "$2" ]; then
        if grep -qE -- "$3" "$scratch/.out"; then good "$1"; else bad "$1" "no '$3' in:" "$(cat "$scratch/.out")"; fi
    else
        bad "$1" "exit status $status, expected $2" "$(cat "$scratch/.out")"
    fi
}

# says NAME WORDS COMMAND...: it succeeds and prints WORDS.
says() { fails "$1" 0 "$2" "${@:3}"; }

# same NAME EXPECTED ACTUAL
same() { if [ "$2" = "$3" ]; then good "$1"; else bad "$1" "expected: $2" "     got: $3"; fi; }
