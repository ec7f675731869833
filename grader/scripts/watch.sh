#!/bin/sh
# watch.sh COMMAND...: runs COMMAND now and after every save of a lab's file, until Ctrl-C. WATCH lists what to watch
# (files and folders without blanks); inotifywait wakes it if installed, else it looks twice a second.
set -u
# With a terminal the loop becomes a job of its own in the foreground, so that Ctrl-C ends it and not make, which would
# report an error.
if [ -t 0 ] && [ -z "${WATCH_LOOP:-}" ]; then
    set -m
    WATCH_LOOP=1 sh "$0" "$@"
    exit 0
fi
trap 'echo; exit 0' INT TERM

# shellcheck disable=SC2086
state() { find $WATCH -type f ! -name '*.backup-*' ! -name '.*' ! -name '*~' -exec cksum {} + 2>/dev/null; }

wake() {
    if command -v inotifywait >/dev/null 2>&1; then
        # A time-out too: a network disk or a Windows folder reports no events.
        # shellcheck disable=SC2086
        inotifywait -qq -r -t 2 -e close_write,move,create,delete $WATCH 2>/dev/null
    else
        sleep 0.5 2>/dev/null || sleep 1
    fi
}

seen=
while :; do
    now=$(state)
    if [ "$now" != "$seen" ]; then
        seen=$now
        [ ! -t 1 ] || printf '\033[H\033[2J\033[3J'
        "$@"
        echo "watching $WATCH; press Ctrl-C to stop"
        continue
    fi
    wake
done
