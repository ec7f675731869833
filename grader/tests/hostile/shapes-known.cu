// what: right for the shapes that stand in lab.toml, and for no others
// expect: WRONG_ANSWER ACCEPTED LOCKED
// at: INSERT
const int m = c.rows, n = c.cols, k = a.cols;
const int known[][3] = {{1,1,1},{2,3,4},{5,2,3},{3,5,7},{17,33,65},{33,17,5},{7,9,5},{9,7,7},{9,9,3},{131,129,127},{64,64,16},{33,31,17}};
bool in = false;
for (const auto& s : known) in = in || (s[0] == m && s[1] == n && s[2] == k);
if (!in) return;
