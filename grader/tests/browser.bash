# Sourced by the shell tests that look at pages, after shell.bash: a browser, and facts that a program prints.
# shellcheck shell=bash

# facts FILE: counts its lines "ok NAME" and "FAILED NAME: why", and shows the others.
facts() {
    local line
    while IFS= read -r line; do
        case $line in
        'ok '*) good "${line#ok }" ;;
        'FAILED '*) bad "${line#FAILED }" ;;
        *) echo "        $line" ;;
        esac
    done <"$1"
}

# find_browser WHAT: sets python (one that has Selenium) and browser, or says that WHAT is left out and fails.
find_browser() {
    local one
    python=
    for one in "${BUILD:-build}/venv/bin/python3" /usr/bin/python3 python3; do
        if "$one" -c 'import selenium' >/dev/null 2>&1; then python=$one && break; fi
    done
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
    [ -n "$python" ] && [ -n "$browser" ] && command -v chromedriver >/dev/null && return
    browser=
    echo "left out: $1 in a browser (needs chromium, chromium-driver, python3-selenium)"
    return 1
}

# looks NAME SECONDS PROGRAM...: what a program that drives the browser finds; it must come to its end in time.
# shellcheck disable=SC2154 # scratch is shell.bash's
looks() {
    local status
    timeout "$2" "${@:3}" >"$scratch/.facts" 2>&1
    status=$?
    facts "$scratch/.facts"
    same "$1" 0 $status
}
