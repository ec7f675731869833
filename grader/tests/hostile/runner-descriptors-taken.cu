// what: all descriptors taken
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
while (dup(0) >= 0) {}
