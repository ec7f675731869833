#!/bin/sh
# build.sh VENV OUT [SPHINX OPTION...]: installs docs/requirements.txt into the folder VENV, once, and builds the site
# into OUT. In the authors' tree a warning is an error; in a copy of a student's, where labs may be missing, it is not.
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
        echo "The chapters can be read without it: docs/*.md" >&2
        exit 3
    fi
    cp docs/requirements.txt "$venv/requirements.txt" || exit 3
fi

strict='-D suppress_warnings=myst.xref_missing,toc.not_readable'
for master in lab[0-9]*_*/solution/gemm.cu; do [ ! -e "$master" ] || strict='-W --keep-going'; done
# shellcheck disable=SC2086
"$venv/bin/python3" -m sphinx -q -b html $strict -j auto -d "$out/../docs-doctrees" "$@" docs "$out" || exit 2
echo "$out/index.html"
