# Of LLVM's text as clang -ftrivial-auto-var-init=pattern writes it: a variable without an initialiser gets a pattern where
# it is declared. Here it gets the value of %simgpu_unset instead, a register of the simulated GPU's that follows what is
# computed from it (exec/unset.hpp). Elements of arrays only: of other variables the compiler itself says that they are not
# set. What has no such value (bytes, pointers, structs) is left without one. `skip` names variables (" 3 17 ") that are to
# be left without one, too: arrays that stay in memory, of whose bytes it is known anyway which are written.

# The file is read twice: first for the lines that its debug locations mean. Behind each mark stand the number of its
# array and the line of its declaration, which simcc makes a .loc of: the compiler merges marks and forgets their lines.

function width_of(type) {
  if (type == "float") return "f32 f";
  if (type == "double") return "f64 d";
  if (type == "i16") return "u16 h";
  if (type == "i32") return "u32 r";
  if (type == "i64") return "u64 l";
  return "";
}
# The type of the elements of [8 x [8 x float]]; of CUDA's vectors that of their components.
function element(type) {
  while (match(type, /^\[[0-9]+ x /)) type = substr(type, RLENGTH + 1, length(type) - RLENGTH - 1);
  if (type ~ /^%struct\.(float)[1234]$/) return "float";
  if (type ~ /^%struct\.(int|uint)[1234]$/) return "i32";
  if (type ~ /^%struct\.(double)[12]$/) return "double";
  return type;
}
function size_of(type) { return type == "i16" ? 2 : type == "double" || type == "i64" ? 8 : 4; }
function marked(name, type, dbg,   w) {
  split(width_of(type), w, " ");
  return "  " name " = call " type " asm \"mov." w[1] " $0, %simgpu_unset; // " number " " line[place_of(dbg)] + 0 "\", \"=" w[2] "\"()" dbg;
}
function place_of(dbg) { sub(/^.*!dbg /, "", dbg); return dbg }
function pointer_to(type) { return opaque ? "ptr" : type "*"; }

FNR == NR { if ($3 ~ /^!DILocation\(line:/ || $3 ~ /DILocation\(line:/) line[$1] = $4 + 0; next }
/^define / { split("", array); split("", part_of); split("", number_of) }
/^  %[^ ]+ = alloca / {
  type = $0; sub(/^.* = alloca /, "", type); sub(/, align.*$/, "", type);
  if (type ~ /^\[/) { array[$1] = type; number_of[$1] = ++variables }
}
/^  %[^ ]+ = getelementptr / {  # of an array, or of a part of one
  for (name in array) if (index($0, " " name ",") != 0) part_of[$1] = name;
  for (name in part_of) if (index($0, " " name ",") != 0) part_of[$1] = part_of[name];
}
/^  %[^ ]+ = bitcast / { for (name in array) if (index($0, " " name " to ") != 0) part_of[$1] = name;
                         for (name in part_of) if (index($0, " " name " to ") != 0) part_of[$1] = part_of[name] }
!/!annotation / { print; next }
{
  dbg = ""; if (match($0, /, !dbg ![0-9]+/)) dbg = substr($0, RSTART, RLENGTH);
  opaque = $0 ~ /(,|\() *ptr /;
  target = "";
  if ($0 ~ /^  store /) {
    type = $2;
    if (type == "<4" || type == "<2") { type = $2 " " $3 " " $4; }
    if (match($0, /(\*|ptr) %[^ ,]+/)) { target = substr($0, RSTART, RLENGTH); sub(/^(\*|ptr) /, "", target) }
    base = target in array ? target : part_of[target];
    number = number_of[base];
    if (base == "" || index(skip, " " number " ") != 0) next;
    if (type ~ /^<[24] x (float|i32|double)>$/) {
      count = substr(type, 2, 1); one = type; sub(/^<[24] x /, "", one); sub(/>$/, "", one);
      value = "%simgpu.u" ++made; print marked(value, one, dbg); before = "undef";
      for (k = 0; k < count; ++k) {
        print "  " value ".v" k " = insertelement " type " " before ", " one " " value ", i32 " k dbg; before = value ".v" k
      }
      print "  store " type " " before ", " pointer_to(type) " " target dbg; next
    }
    if (width_of(type) == "") next;
    value = "%simgpu.u" ++made; print marked(value, type, dbg);
    print "  store " type " " value ", " pointer_to(type) " " target dbg; next
  }
  # call void @llvm.memset.p0i8.i64(i8* align 16 %4, i8 -1, i64 256, i1 false)
  if ($0 ~ /@llvm\.memset\./ && match($0, /%[^ ,]+, i8 /)) {
    target = substr($0, RSTART, RLENGTH); sub(/, i8 $/, "", target);
    base = target in array ? target : part_of[target];
    number = number_of[base];
    match($0, /i64 [0-9]+, i1/); bytes = substr($0, RSTART + 4, RLENGTH - 8) + 0;
    type = element(array[base]);
    if (base == "" || index(skip, " " number " ") != 0 || width_of(type) == "" || bytes > 8192) next;
    value = "%simgpu.u" ++made; print marked(value, type, dbg);
    for (k = 0; k < bytes; k += size_of(type)) {
      place = value ".p" k;
      print "  " place " = getelementptr inbounds i8, " pointer_to("i8") " " target ", i64 " k dbg;
      if (!opaque) { print "  " place "t = bitcast i8* " place " to " type "*" dbg; place = place "t" }
      print "  store " type " " value ", " pointer_to(type) " " place dbg
    }
    next
  }
}
