#!/bin/sh
# help.sh MAKEFILE...: the targets whose rule carries a `## text`, in the order of the files. A text that begins with
# "staff:" or "authors:" is for those who give the labs out, or change them.
awk '
    BEGIN { print "CUDA GEMM Lab: fill in the TODOs of the files in labN_*/, then\n" }
    /^[a-z][a-z-]*([ ][a-z-]*)*:.*## / {
        text = $0; sub(/^[^#]*## /, "", text)
        target = $1; sub(/:.*/, "", target)
        row = sprintf("  make %-16s %s", target, text)
        if (sub(/staff: /, "", row)) staff = staff row "\n"
        else if (sub(/authors: /, "", row)) authors = authors row "\n"
        else print row
    }
    END {
        if (staff) printf "\nCourse staff:\n\n%s", staff
        if (authors) printf "\nAuthors of the labs:\n\n%s", authors
        print "\nSettings: LAB=3 or LAB=\"1 3\"   DEVICE=auto|sim|gpu   BUILD=folder   JOBS=n"
        print "          CXX=   CLANG=   NVCC=   CUDA_HOME=   ARCH=80   V=1 shows the commands"
        print "          DEPS=folder with include/ and lib/ instead of installed libraries"
        print "Write them into config.mk to keep them."
    }' "$@"
