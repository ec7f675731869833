#!/bin/sh
# help.sh MAKEFILE [author]: the targets whose rule carries a `## text`, in the Makefile's order. A text that begins
# with "staff:" is for the authors of the course and shown in their tree only.
awk -v author="${2:-}" '
    BEGIN { print "CUDA GEMM Lab: fill in the TODOs of labN_*/gemm.cu, then\n" }
    /^[a-z][a-z-]*([ ][a-z-]*)*:.*## / {
        text = $0; sub(/^[^#]*## /, "", text)
        target = $1; sub(/:.*/, "", target)
        if (sub(/^staff: /, "", text)) staff[++n] = sprintf("  make %-16s %s", target, text)
        else printf "  make %-16s %s\n", target, text
    }
    END {
        if (author != "" && n > 0) {
            print "\nCourse staff:\n"
            for (i = 1; i <= n; ++i) print staff[i]
        }
        print "\nSettings: LAB=3 or LAB=\"1 3\"   DEVICE=auto|sim|gpu   BUILD=folder   JOBS=n"
        print "          CXX=   CLANG=   NVCC=   CUDA_HOME=   ARCH=80   V=1 shows the commands"
        print "          DEPS=folder with include/ and lib/ instead of installed libraries"
        print "config.mk keeps them."
    }' "$1"
