#!/bin/sh
# Makes the PTX fixtures of this folder again from their .cu: regenerate.sh [clang++-14 clang++-22]
set -eu
cd "$(dirname "$0")/../../../.."
here=common/simgpu/tests/ptx
[ $# -gt 0 ] || set -- clang++-14 clang++-22
for clang in "$@"; do
  for name in forms merging_kernels local_arrays; do
    out=$here/$name.$clang.ptx
    UNROLL=all CLANG=$clang common/simgpu/simcc --ptx $here/$name.cu -o "$out"
    # no path of the machine it ran on
    sed -i -E "s#\"(/[^\"]*/)?($here/|common/simgpu/include/)#\"\\2#; s#\"/[^\"]*/(__clang_[a-z_.]*)\"#\"/usr/lib/llvm/lib/clang/include/\\1\"#; s#[ \t]*// [^ ]*:[0-9]+:[0-9]+.*##" "$out"
    # of many small kernels only the code
    [ $name != local_arrays ] || sed -i -E '/^[ \t]*(\.loc[ \t]|\.file|\.section)/d; /^\$L__(tmp|func)/d; s#[ \t]*//.*##; /^[ \t]*$/d' "$out"
  done
done
