// what: what the first stage computed, kept for the second
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: GLOBAL
static int first_calls = 0;
// at: INSERT
++first_calls;
// at: SECOND
if (first_calls > 0) hostile::escaped("the first stage's process is alive in the second");
