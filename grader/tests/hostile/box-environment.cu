// what: what the environment tells
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (char** e = environ; *e; ++e)
  if (std::strncmp(*e, "LC_ALL=", 7) != 0 && std::strncmp(*e, "PWD=", 4) != 0) hostile::escaped(*e);
