// what: control characters above 127, which terminals obey as well, and marks that nobody sees
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
std::puts("\xc2\x9b" "2J \xc2\x9d" "0;owned\xc2\x9c \xe2\x81\xa6 \xd8\x9c \xe2\x80\x8b \xf3\xa0\x81\x81 \xef\xbb\xbf \x9b" "2J \r\b\b"); std::fflush(stdout);
