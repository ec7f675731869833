// what: looks for the key of the inputs
// expect: ACCEPTED ACCEPTED ACCEPTED
// at: INSERT
for (const char* name : {"@OUT@/secret", "@OUT@/grades.csv", "@OUT@/results", "@OUT@"})
  if (access(name, F_OK) == 0) hostile::escaped("the results are in sight");
