#!/bin/bash
# autograder.sh OUT LAB...: a zip for Gradescope's "Configure autograder" and, beside it, a workflow for GitHub Classroom.
# It holds what a handout holds and what grades it, of the last commit: no solution.
set -eu
out=$1
shift
here=grader/course/exports/autograder
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/gemm-lab"
{
    sh grader/course/handout_files.sh grader/course/handout.list "$@"
    git ls-files grader/course/grade grader/course/intake grader/course/box grader/course/exports 'grader/course/messages.*' mk/course.mk
} | sort -u >"$work/files"
mapfile -t files <"$work/files"
git archive HEAD -- "${files[@]}" | tar -x -C "$work/gemm-lab"
cp $here/setup.sh $here/run_autograder "$work/"
[ -z "${COURSE:-}" ] || cp "$COURSE" "$work/gemm-lab/course.toml"
chmod +x "$work/setup.sh" "$work/run_autograder"
# Ubuntu 22.04 has no toml++: its headers come along. They stand for themselves, no library is linked.
for include in "${DEPS:-}/include" /usr/include /usr/local/include; do
    [ ! -d "$include/toml++" ] || { mkdir -p "$work/gemm-lab/deps/include"; cp -rL "$include/toml++" "$work/gemm-lab/deps/include/"; break; }
done
[ -d "$work/gemm-lab/deps" ] || { echo 'error: no headers of toml++ here; run: make setup' >&2; exit 3; }
mkdir -p "$(dirname "$out")"
"${PYTHON:-python3}" - "$work" "$out" <<'PACK'
import os
import sys
import zipfile
work, out = sys.argv[1:]
with zipfile.ZipFile(out + ".partial", "w", zipfile.ZIP_DEFLATED) as archive:
    for folder, folders, files in os.walk(work):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, work)
            if inner == "files":
                continue
            info = zipfile.ZipInfo(inner, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (os.stat(path).st_mode & 0o777 | 0o100000) << 16
            with open(path, "rb") as data:
                archive.writestr(info, data.read())
os.replace(out + ".partial", out)
PACK
folder=$(dirname "$out")/classroom
mkdir -p "$folder/.github/workflows"
cp $here/classroom.yml "$folder/.github/workflows/"
cp $here/classroom.jq "$folder/"
echo "written: $out (Gradescope) and $folder/ (GitHub Classroom: copy both files into the template repository)"
