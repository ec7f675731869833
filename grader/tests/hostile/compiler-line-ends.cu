// what: line ends of three kinds, so that lines have other numbers for each reader
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: GLOBAL
// oldstatic int one;// a
// at: INSERT
return;
