#!/bin/sh
# new_build.sh FOLDER: makes the build folder and tags it, so that `make clean` removes only what the project made and
# backup programs pass it over.
mkdir -p "$1" && cat >"$1/CACHEDIR.TAG" <<'TAG'
Signature: 8a477f597d28d172789f06886806bc55
# Built by the CUDA GEMM Lab; `make clean` removes it.
TAG
