#!/bin/sh
# build.sh VENV OUT [SPHINX OPTION...]: installs docs/requirements.txt into the folder VENV, once, and builds the site
# into OUT, a warning being an error. Where a handout's tutorial is made, labs may be missing: a link to one is no warning.
set -u
cd "$(dirname "$0")/../.." || exit 3
venv=$1
out=$2
shift 2

python=$(command -v /usr/bin/python3 || command -v python3) || { echo "error: python3 is not installed" >&2; exit 3; }
if ! cmp -s docs/requirements.txt "$venv/requirements.txt"; then
    echo "installing Sphinx into $venv (once, from PyPI) ..." >&2
    if [ ! -x "$venv/bin/python3" ] && ! "$python" -m venv --system-site-packages "$venv" >/dev/null 2>&1; then
        echo "error: python3 cannot make a virtual environment. Install it: sudo apt-get install python3-venv" >&2
        exit 3
    fi
    if ! "$venv/bin/python3" -m pip install -q --disable-pip-version-check -r docs/requirements.txt >&2; then
        echo "error: docs/requirements.txt could not be installed (Python 3.11 or newer and, once, a network are needed)." >&2
        exit 3
    fi
    cp docs/requirements.txt "$venv/requirements.txt" || exit 3
fi

missing='-D suppress_warnings=config.cache,myst.xref_missing,toc.not_readable'
for master in lab[0-9]*_*/solution/gemm.cu; do [ ! -e "$master" ] || missing=; done
# shellcheck disable=SC2086
"$venv/bin/python3" -m sphinx -q -b html -W --keep-going $missing -j auto -d "$out/../docs-doctrees" "$@" docs "$out" || {
    rm -rf "$out/../docs-doctrees" # a page with an error would not be read again, and the next build succeed
    exit 2
}
echo "$out/index.html"
