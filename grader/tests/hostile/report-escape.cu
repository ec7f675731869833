// what: escape sequences, markup, bytes that are no text, direction marks
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
std::puts("\x1b[2J\x1b]0;owned\x07 </system-out><script>alert(1)</script> =HYPERLINK(\"x\") \xff\xfe \xe2\x80\xae evil"); std::fflush(stdout);
