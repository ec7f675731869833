"""Fingerprints of CUDA and C++ text that survive renaming, reformatting, other comments and moved functions.

Tokens: what a compiler's lexer would see, all names alike, all numbers alike; keywords and CUDA's own words stay.
Fingerprints: hashes of K tokens in a row, of which winnowing (Schleimer, Wilkerson, Aiken 2003) keeps the smallest of
each WINDOW: whatever K + WINDOW - 1 tokens or more two files share is found."""
import re
import zlib

K = 12
WINDOW = 6

# What is never closed goes to the end of the text: else each "/*" of a file without "*/" would be searched to the end.
TOKEN = re.compile(r"""
    (?P<skip>\s+|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|^[ \t]*\#[ \t]*(?:include|pragma)[^\n]*)
  | (?P<string>R"\(.*?(?:\)"|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<<|>>>|<<=|>>=|\+\+|--|->|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|::|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

KEPT = frozenset("""
    if else for while do switch case default break continue return goto template typename class struct union enum using
    namespace static const constexpr inline extern volatile auto void bool char short int long float double unsigned
    signed sizeof alignof alignas true false nullptr operator new delete static_cast reinterpret_cast const_cast asm
    __global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__
    threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __half __nv_bfloat16 float2 float4 int4 uint4
    define ifdef ifndef endif
""".split())


def tokens(text):
    """(token, line) for each; lines count from 1."""
    line = 1
    for match in TOKEN.finditer(text):
        kind, found = match.lastgroup, match.group()
        if kind == "word":
            yield (found if found in KEPT else "x"), line
        elif kind == "number":
            yield "0", line
        elif kind == "string":
            yield '""', line
        elif kind == "sign":
            yield found, line
        line += found.count("\n")


def grams(text):
    """(hash, first line, last line) of each K tokens in a row."""
    stream = list(tokens(text))
    for i in range(1, len(stream)):  # i++ is ++i where nobody takes the value
        if stream[i][0] in ("++", "--") and stream[i - 1][0] == "x":
            stream[i - 1], stream[i] = stream[i], stream[i - 1]
    return [(zlib.crc32("\0".join(token for token, _ in stream[i:i + K]).encode()), stream[i][1], stream[i + K - 1][1])
            for i in range(len(stream) - K + 1)]


def winnow(all_grams):
    """hash -> [(first line, last line), ...] of those that winnowing keeps."""
    kept = {}
    taken = -1
    for begin in range(max(len(all_grams) - WINDOW + 1, 1 if all_grams else 0)):
        end = min(begin + WINDOW, len(all_grams))
        # The smallest, of equal ones the last: a neighbour's window mostly takes the same.
        at = min(range(begin, end), key=lambda i: (all_grams[i][0], -i))
        if at != taken:
            taken = at
            value, first, last = all_grams[at]
            kept.setdefault(value, []).append((first, last))
    return kept


def fingerprints(text, given=frozenset()):
    """Of what is the student's: K tokens that the given text has in a row, too, are taken out before winnowing."""
    return winnow([gram for gram in grams(text) if gram[0] not in given])


def given_hashes(texts):
    return frozenset(value for text in texts for value, _, _ in grams(text))
