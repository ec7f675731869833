#include "grader/course/intake/canonical.hpp"

#include <algorithm>
#include <iterator>

#include "grader/os/escape.hpp"

namespace grader::intake {
namespace {

/// A mark, and pairs of letters: without it, and with it as one character. Small letters of Latin, Greek, Cyrillic,
/// Arabic, Indian and Japanese script that the canonical decomposition of Unicode (UnicodeData.txt) takes apart.
struct Row {
  char32_t mark;
  std::u32string_view pairs;
};
// clang-format off
constexpr Row kLetters[] = {
    {0x300,
     U"a\u00e0e\u00e8i\u00ecn\u01f9o\u00f2u\u00f9w\u1e81y\u1ef3\u00a8\u1fed\u00e2\u1ea7"
     U"\u00ea\u1ec1\u00f4\u1ed3\u00fc\u01dc\u0103\u1eb1\u0113\u1e15\u014d\u1e51"
     U"\u01a1\u1edd\u01b0\u1eeb\u03b1\u1f70\u03b5\u1f72\u03b7\u1f74\u03b9\u1f76"
     U"\u03bf\u1f78\u03c5\u1f7a\u03c9\u1f7c\u03ca\u1fd2\u03cb\u1fe2\u0435\u0450"
     U"\u0438\u045d\u1f00\u1f02\u1f01\u1f03\u1f10\u1f12\u1f11\u1f13\u1f20\u1f22"
     U"\u1f21\u1f23\u1f30\u1f32\u1f31\u1f33\u1f40\u1f42\u1f41\u1f43\u1f50\u1f52"
     U"\u1f51\u1f53\u1f60\u1f62\u1f61\u1f63\u1fbf\u1fcd\u1ffe\u1fdd"},
    {0x301,
     U"a\u00e1c\u0107e\u00e9g\u01f5i\u00edk\u1e31l\u013am\u1e3fn\u0144o\u00f3p\u1e55"
     U"r\u0155s\u015bu\u00faw\u1e83y\u00fdz\u017a\u00a8\u0385\u00e2\u1ea5\u00e5\u01fb"
     U"\u00e6\u01fd\u00e7\u1e09\u00ea\u1ebf\u00ef\u1e2f\u00f4\u1ed1\u00f5\u1e4d"
     U"\u00f8\u01ff\u00fc\u01d8\u0103\u1eaf\u0113\u1e17\u014d\u1e53\u0169\u1e79"
     U"\u01a1\u1edb\u01b0\u1ee9\u03b1\u03ac\u03b5\u03ad\u03b7\u03ae\u03b9\u03af"
     U"\u03bf\u03cc\u03c5\u03cd\u03c9\u03ce\u03ca\u0390\u03cb\u03b0\u03d2\u03d3"
     U"\u0433\u0453\u043a\u045c\u1f00\u1f04\u1f01\u1f05\u1f10\u1f14\u1f11\u1f15"
     U"\u1f20\u1f24\u1f21\u1f25\u1f30\u1f34\u1f31\u1f35\u1f40\u1f44\u1f41\u1f45"
     U"\u1f50\u1f54\u1f51\u1f55\u1f60\u1f64\u1f61\u1f65\u1fbf\u1fce\u1ffe\u1fde"},
    {0x302,
     U"a\u00e2c\u0109e\u00eag\u011dh\u0125i\u00eej\u0135o\u00f4s\u015du\u00fbw\u0175"
     U"y\u0177z\u1e91\u1ea1\u1ead\u1eb9\u1ec7\u1ecd\u1ed9"},
    {0x303,
     U"a\u00e3e\u1ebdi\u0129n\u00f1o\u00f5u\u0169v\u1e7dy\u1ef9\u00e2\u1eab\u00ea\u1ec5"
     U"\u00f4\u1ed7\u0103\u1eb5\u01a1\u1ee1\u01b0\u1eef"},
    {0x304,
     U"a\u0101e\u0113g\u1e21i\u012bo\u014du\u016by\u0233\u00e4\u01df\u00e6\u01e3"
     U"\u00f5\u022d\u00f6\u022b\u00fc\u01d6\u01eb\u01ed\u0227\u01e1\u022f\u0231"
     U"\u03b1\u1fb1\u03b9\u1fd1\u03c5\u1fe1\u0438\u04e3\u0443\u04ef\u1e37\u1e39"
     U"\u1e5b\u1e5d"},
    {0x306,
     U"a\u0103e\u0115g\u011fi\u012do\u014fu\u016d\u0229\u1e1d\u03b1\u1fb0\u03b9\u1fd0"
     U"\u03c5\u1fe0\u0430\u04d1\u0435\u04d7\u0436\u04c2\u0438\u0439\u0443\u045e"
     U"\u1ea1\u1eb7"},
    {0x307,
     U"a\u0227b\u1e03c\u010bd\u1e0be\u0117f\u1e1fg\u0121h\u1e23m\u1e41n\u1e45o\u022f"
     U"p\u1e57r\u1e59s\u1e61t\u1e6bw\u1e87x\u1e8by\u1e8fz\u017c\u015b\u1e65\u0161\u1e67"
     U"\u017f\u1e9b\u1e63\u1e69"},
    {0x308,
     U"a\u00e4e\u00ebh\u1e27i\u00efo\u00f6t\u1e97u\u00fcw\u1e85x\u1e8dy\u00ff"
     U"\u00f5\u1e4f\u016b\u1e7b\u03b9\u03ca\u03c5\u03cb\u03d2\u03d4\u0430\u04d3"
     U"\u0435\u0451\u0436\u04dd\u0437\u04df\u0438\u04e5\u043e\u04e7\u0443\u04f1"
     U"\u0447\u04f5\u044b\u04f9\u044d\u04ed\u0456\u0457\u04d9\u04db\u04e9\u04eb"},
    {0x309,
     U"a\u1ea3e\u1ebbi\u1ec9o\u1ecfu\u1ee7y\u1ef7\u00e2\u1ea9\u00ea\u1ec3\u00f4\u1ed5"
     U"\u0103\u1eb3\u01a1\u1edf\u01b0\u1eed"},
    {0x30a,
     U"a\u00e5u\u016fw\u1e98y\u1e99"},
    {0x30b,
     U"o\u0151u\u0171\u0443\u04f3"},
    {0x30c,
     U"a\u01cec\u010dd\u010fe\u011bg\u01e7h\u021fi\u01d0j\u01f0k\u01e9l\u013en\u0148"
     U"o\u01d2r\u0159s\u0161t\u0165u\u01d4z\u017e\u00fc\u01da\u0292\u01ef"},
    {0x30f,
     U"a\u0201e\u0205i\u0209o\u020dr\u0211u\u0215\u0475\u0477"},
    {0x311,
     U"a\u0203e\u0207i\u020bo\u020fr\u0213u\u0217"},
    {0x313,
     U"\u03b1\u1f00\u03b5\u1f10\u03b7\u1f20\u03b9\u1f30\u03bf\u1f40\u03c1\u1fe4"
     U"\u03c5\u1f50\u03c9\u1f60"},
    {0x314,
     U"\u03b1\u1f01\u03b5\u1f11\u03b7\u1f21\u03b9\u1f31\u03bf\u1f41\u03c1\u1fe5"
     U"\u03c5\u1f51\u03c9\u1f61"},
    {0x31b,
     U"o\u01a1u\u01b0"},
    {0x323,
     U"a\u1ea1b\u1e05d\u1e0de\u1eb9h\u1e25i\u1ecbk\u1e33l\u1e37m\u1e43n\u1e47o\u1ecd"
     U"r\u1e5bs\u1e63t\u1e6du\u1ee5v\u1e7fw\u1e89y\u1ef5z\u1e93\u01a1\u1ee3\u01b0\u1ef1"},
    {0x324,
     U"u\u1e73"},
    {0x325,
     U"a\u1e01"},
    {0x326,
     U"s\u0219t\u021b"},
    {0x327,
     U"c\u00e7d\u1e11e\u0229g\u0123h\u1e29k\u0137l\u013cn\u0146r\u0157s\u015ft\u0163"},
    {0x328,
     U"a\u0105e\u0119i\u012fo\u01ebu\u0173"},
    {0x32d,
     U"d\u1e13e\u1e19l\u1e3dn\u1e4bt\u1e71u\u1e77"},
    {0x32e,
     U"h\u1e2b"},
    {0x330,
     U"e\u1e1bi\u1e2du\u1e75"},
    {0x331,
     U"b\u1e07d\u1e0fh\u1e96k\u1e35l\u1e3bn\u1e49r\u1e5ft\u1e6fz\u1e95"},
    {0x342,
     U"\u00a8\u1fc1\u03b1\u1fb6\u03b7\u1fc6\u03b9\u1fd6\u03c5\u1fe6\u03c9\u1ff6"
     U"\u03ca\u1fd7\u03cb\u1fe7\u1f00\u1f06\u1f01\u1f07\u1f20\u1f26\u1f21\u1f27"
     U"\u1f30\u1f36\u1f31\u1f37\u1f50\u1f56\u1f51\u1f57\u1f60\u1f66\u1f61\u1f67"
     U"\u1fbf\u1fcf\u1ffe\u1fdf"},
    {0x345,
     U"\u03ac\u1fb4\u03ae\u1fc4\u03b1\u1fb3\u03b7\u1fc3\u03c9\u1ff3\u03ce\u1ff4"
     U"\u1f00\u1f80\u1f01\u1f81\u1f02\u1f82\u1f03\u1f83\u1f04\u1f84\u1f05\u1f85"
     U"\u1f06\u1f86\u1f07\u1f87\u1f20\u1f90\u1f21\u1f91\u1f22\u1f92\u1f23\u1f93"
     U"\u1f24\u1f94\u1f25\u1f95\u1f26\u1f96\u1f27\u1f97\u1f60\u1fa0\u1f61\u1fa1"
     U"\u1f62\u1fa2\u1f63\u1fa3\u1f64\u1fa4\u1f65\u1fa5\u1f66\u1fa6\u1f67\u1fa7"
     U"\u1f70\u1fb2\u1f74\u1fc2\u1f7c\u1ff2\u1fb6\u1fb7\u1fc6\u1fc7\u1ff6\u1ff7"},
    {0x653,
     U"\u0627\u0622"},
    {0x654,
     U"\u0627\u0623\u0648\u0624\u064a\u0626\u06c1\u06c2\u06d2\u06d3\u06d5\u06c0"},
    {0x655,
     U"\u0627\u0625"},
    {0x93c,
     U"\u0928\u0929\u0930\u0931\u0933\u0934"},
    {0x9be,
     U"\u09c7\u09cb"},
    {0x9d7,
     U"\u09c7\u09cc"},
    {0xb3e,
     U"\u0b47\u0b4b"},
    {0xb56,
     U"\u0b47\u0b48"},
    {0xb57,
     U"\u0b47\u0b4c"},
    {0xbbe,
     U"\u0bc6\u0bca\u0bc7\u0bcb"},
    {0xbd7,
     U"\u0b92\u0b94\u0bc6\u0bcc"},
    {0xc56,
     U"\u0c46\u0c48"},
    {0xcc2,
     U"\u0cc6\u0cca"},
    {0xcd5,
     U"\u0cbf\u0cc0\u0cc6\u0cc7\u0cca\u0ccb"},
    {0xcd6,
     U"\u0cc6\u0cc8"},
    {0xd3e,
     U"\u0d46\u0d4a\u0d47\u0d4b"},
    {0xd57,
     U"\u0d46\u0d4c"},
    {0xdca,
     U"\u0dd9\u0dda\u0ddc\u0ddd"},
    {0xdcf,
     U"\u0dd9\u0ddc"},
    {0xddf,
     U"\u0dd9\u0dde"},
    {0x3099,
     U"\u3046\u3094\u304b\u304c\u304d\u304e\u304f\u3050\u3051\u3052\u3053\u3054"
     U"\u3055\u3056\u3057\u3058\u3059\u305a\u305b\u305c\u305d\u305e\u305f\u3060"
     U"\u3061\u3062\u3064\u3065\u3066\u3067\u3068\u3069\u306f\u3070\u3072\u3073"
     U"\u3075\u3076\u3078\u3079\u307b\u307c\u309d\u309e\u30a6\u30f4\u30ab\u30ac"
     U"\u30ad\u30ae\u30af\u30b0\u30b1\u30b2\u30b3\u30b4\u30b5\u30b6\u30b7\u30b8"
     U"\u30b9\u30ba\u30bb\u30bc\u30bd\u30be\u30bf\u30c0\u30c1\u30c2\u30c4\u30c5"
     U"\u30c6\u30c7\u30c8\u30c9\u30cf\u30d0\u30d2\u30d3\u30d5\u30d6\u30d8\u30d9"
     U"\u30db\u30dc\u30ef\u30f7\u30f0\u30f8\u30f1\u30f9\u30f2\u30fa\u30fd\u30fe"},
    {0x309a,
     U"\u306f\u3071\u3072\u3074\u3075\u3077\u3078\u307a\u307b\u307d\u30cf\u30d1"
     U"\u30d2\u30d4\u30d5\u30d7\u30d8\u30da\u30db\u30dd"},
};
// clang-format on

/// Korean syllables are put together by arithmetic (The Unicode Standard, 3.12). 0: these two make none.
char32_t syllable(char32_t first, char32_t second) {
  constexpr char32_t lead = 0x1100, vowel = 0x1161, tail = 0x11a7, all = 0xac00;
  constexpr char32_t leads = 19, vowels = 21, tails = 28;
  if (first >= lead && first < lead + leads && second >= vowel && second < vowel + vowels)
    return all + ((first - lead) * vowels + second - vowel) * tails;
  const bool open =
      first >= all && first < all + leads * vowels * tails && (first - all) % tails == 0;
  if (open && second > tail && second < tail + tails) return first + second - tail;
  return 0;
}

/// One character for both; 0: there is none.
char32_t together(char32_t letter, char32_t mark) {
  const auto* const row = std::find_if(std::begin(kLetters), std::end(kLetters),
                                       [mark](const Row& one) { return one.mark == mark; });
  if (row == std::end(kLetters)) return syllable(letter, mark);
  for (std::size_t i = 0; i + 1 < row->pairs.size(); i += 2)
    if (row->pairs[i] == letter) return row->pairs[i + 1];
  return 0;
}

/// The letter without its mark; 0: it has none.
char32_t without_mark(char32_t letter) {
  for (const Row& row : kLetters)
    for (std::size_t i = 0; i + 1 < row.pairs.size(); i += 2)
      if (row.pairs[i + 1] == letter) return row.pairs[i];
  return 0;
}

}  // namespace

std::string canonical(const std::string& name) {
  std::u32string out;
  for (const char32_t c : characters(folded(name))) {
    if (is_treacherous(c)) continue;
    const char32_t one = out.empty() ? 0 : together(out.back(), c);
    if (one != 0)
      out.back() = one;
    else
      out += c;
  }
  return utf8(out);
}

std::string without_accents(const std::string& canonical) {
  std::u32string out = characters(canonical);
  for (char32_t& letter : out)
    while (const char32_t plain = without_mark(letter)) letter = plain;
  return utf8(out);
}

}  // namespace grader::intake
