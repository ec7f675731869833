// what: characters that no XML may hold, ends of sections and entities, in an exception and in what is printed
// expect: RUNTIME_ERROR ACCEPTED LOCKED
// at: INSERT
const char* const odd = "\xef\xbf\xbe \xef\xbf\xbf \xed\xa0\x80 \x0b ]]> <!-- &#0; &#xFFFE; &lol; \xf0\x9f\xbf\xbf";
std::puts(odd); std::fflush(stdout);
throw std::runtime_error(odd);
