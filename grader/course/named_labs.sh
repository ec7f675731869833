#!/bin/bash
# named_labs.sh COMMANDS NUMBERS FOLDER: where the pages in FOLDER name one of these commands ("check|run") about one of
# these labs ("4|6"). Fails if none does. A page's text may be cut by tags anywhere, as in LAB=<span>6</span>.
set -u
cd "$3" || exit 3
find . -name '*.html' -print0 | sort -z | while IFS= read -r -d '' page; do
    sed 's/<[^>]*>//g; s/&quot;/"/g' "$page" | grep -oE "make ($1)( [A-Z]+=[^ ]*)* (LAB=\"?|STAGE=)($2)(\.[0-9a-z.]*|\"|\b)" | sed "s|^|${page#./}: |"
done | sort -u | grep .
