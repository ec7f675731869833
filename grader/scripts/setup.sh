#!/bin/sh
# Installs what `make check` and `make test` need and this machine has not. Asks before sudo; silent as root, in CI and
# with YES=1. Knows Debian, Ubuntu and their kin; elsewhere it prints the names.
set -u
here=$(dirname "$0")
# shellcheck source=grader/scripts/lib.sh
. "$here/lib.sh"

probe_missing
if [ -z "$MISSING" ]; then
    echo "Everything is installed. Next: make check"
    exit 0
fi
# shellcheck disable=SC2086
names=$(names_of $MISSING)
# shellcheck disable=SC2086
command=$(install_command $MISSING)
[ "$(os_family)" = debian ] || fail "missing: $names. This script installs only on Debian and Ubuntu; on this system:" "$command"
have apt-get || fail "missing: $names, and there is no apt-get to install them."

# shellcheck disable=SC2086
packages=$(packages_of $MISSING)
if [ "$(id -u)" = 0 ]; then
    sudo=
elif ! have sudo; then
    fail "missing: $names. You are not root and there is no sudo; ask the administrator of this machine to run:" "apt-get install -y $packages"
elif [ "${YES:-}" = 1 ] || [ -n "${CI:-}" ]; then
    sudo -n true 2>/dev/null || fail "missing: $names. sudo needs a password; run this yourself:" "$command"
    sudo='sudo -n'
elif [ -t 0 ]; then
    printf 'Missing: %s.\nInstall with sudo: %s? [Y/n] ' "$names" "$packages"
    read -r answer || answer=n
    case $answer in
    '' | [yY]*) sudo=sudo ;;
    *) fail "nothing was installed. To do it yourself:" "$command" ;;
    esac
else
    fail "missing: $names. Install with:" "$command"
fi

log=$(mktemp) || fail "cannot write a temporary file."
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
echo "installing $packages (takes a minute or two) ..." >&2
# The lists may be old or absent: update first, and let the installation decide whether they are good enough.
$sudo apt-get update >"$log" 2>&1 </dev/null
case " $packages " in
*" clang "*)
    # A release whose plain clang is too old may still have a newer one under a versioned name.
    candidate=$(apt-cache policy clang 2>/dev/null | sed -n 's/.*Candidate: *\(.*:\)\{0,1\}\([0-9]*\).*/\2/p')
    if [ "${candidate:-0}" -lt "$CLANG_OLDEST" ] 2>/dev/null; then
        newer=$(apt-cache pkgnames clang- 2>/dev/null | sed -n 's/^clang-\([0-9][0-9]*\)$/\1/p' | sort -n | tail -n 1)
        if [ "${newer:-0}" -ge "$CLANG_OLDEST" ]; then
            packages=$(echo " $packages " | sed "s/ clang / clang-$newer /")
        fi
    fi
    ;;
esac
# shellcheck disable=SC2086
if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages >>"$log" 2>&1 </dev/null; then
    reason=$(grep -E '^(E|W|Err)' "$log" | tail -n 2)
    if grep -qiE 'temporary failure|could not resolve|failed to fetch|unable to connect|unable to locate' "$log"; then
        fail "could not install $packages: the package archive could not be reached (no network?)." "$reason"
    fi
    fail "could not install $packages." "$reason"
fi

# What was looked up before is stale now.
unset CLANG
[ -n "${CXX_CHOSEN:-}" ] || unset CXX
# shellcheck source=grader/scripts/lib.sh
. "$here/lib.sh"
probe_missing
if [ -n "$MISSING" ]; then
    [ "$CLANG_STATE" = ok ] || fail "installed, but $(clang_trouble)."
    # shellcheck disable=SC2086
    fail "installed, but the compiler still cannot find: $(names_of $MISSING)."
fi
echo "installed: $packages" >&2
