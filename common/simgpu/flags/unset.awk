# Of LLVM's text as clang -ftrivial-auto-var-init=pattern writes it: a variable without an initialiser gets a pattern where
# it is declared. Here it gets the value of %simgpu_unset instead, a register of the simulated GPU's that follows what is
# computed from it (exec/unset.hpp): elements of arrays, members of structs, as of a WMMA fragment, and single variables, of
# which the compiler says less than it could. Left without are structs and single variables in functions without lines,
# those of our headers.

# The file is read twice: first for the lines that its debug locations mean. Behind each mark stand the number of its
# variable and the line of its declaration, which simcc makes a .loc of: the compiler merges marks and forgets their lines.

function width_of(type) {
  if (type == "float") return "f32 f";
  if (type == "double") return "f64 d";
  if (type == "i16") return "u16 h";
  if (type == "i32") return "u32 r";
  if (type == "i64" || is_pointer(type)) return "u64 l";
  if (type == "i8") return "u16 h";
  return "";
}
function is_pointer(type) { return type == "ptr" || type ~ /\*$/ }
function is_vector(type) { return type ~ /^%struct\.(float|int|uint)[1234]$/ || type ~ /^%struct\.double[12]$/ }
function is_array(type) { return type ~ /^\[/ }
# Splits "A, [2 x %\"B<1, 2>\"], C" at its outermost commas into parts[depth, 1..].
function split_members(text, depth,   n, k, c, nested, quoted, one) {
  n = nested = quoted = 0; one = "";
  for (k = 1; k <= length(text); ++k) {
    c = substr(text, k, 1);
    if (c == "\"") quoted = !quoted;
    else if (!quoted && c ~ /[[{(<]/) ++nested;
    else if (!quoted && c ~ /[]})>]/) --nested;
    if (c == "," && !quoted && nested == 0) { parts[depth, ++n] = one; one = ""; ++k } else one = one c;
  }
  if (one != "") parts[depth, ++n] = one;
  return n;
}
function up_to(offset, alignment) { return offset % alignment == 0 ? offset : offset + alignment - offset % alignment }
# The bytes of `type`, 0 if it is unknown. alignment[type] is set as well, and places[type] has all that can be marked,
# " offset:type offset:type", but of no more than `most` bytes.
function lay_out(type, depth,   count, one, n, k, at, step, list, all, packed) {
  if (type in bytes) return bytes[type];
  bytes[type] = 0; places[type] = ""; alignment[type] = 1;
  if (width_of(type) != "" || type ~ /^(half|bfloat|i1|i8|ptr)$/ || type ~ /\*$/) {
    at = type ~ /^(i16|half|bfloat)$/ ? 2 : type ~ /^(i32|float)$/ ? 4 : type ~ /^i[18]$/ ? 1 : 8;
    if (width_of(type) != "") places[type] = " 0:" type;
    alignment[type] = at;
    return bytes[type] = at;
  }
  if (match(type, /^[[<][0-9]+ x /)) {
    count = substr(type, 2) + 0; one = substr(type, RLENGTH + 1, length(type) - RLENGTH - 1);
    step = lay_out(one, depth + 1);
    if (step == 0 || count * step > most) return 0;
    n = split(places[one], all, " "); list = "";
    for (at = 0; at < count * step; at += step)
      for (k = 1; k <= n; ++k) list = list " " (at + all[k]) substr(all[k], index(all[k], ":"));
    places[type] = list;
    alignment[type] = is_array(type) ? alignment[one] : up_to(count * step, 4) > 8 ? 16 : count * step;
    return bytes[type] = is_array(type) ? count * step : up_to(count * step, alignment[type]);
  }
  packed = 0; one = type;
  if (type ~ /^%/) { if (!(type in members)) return 0; one = members[type] }
  if (one ~ /^<\{/) { packed = 1; one = substr(one, 2, length(one) - 2) }
  if (one !~ /^\{ .* \}$/) return 0;
  n = split_members(substr(one, 3, length(one) - 4), depth);
  at = 0; list = "";
  for (k = 1; k <= n; ++k) {
    one = parts[depth, k];
    step = lay_out(one, depth + 1);
    if (step == 0) return 0;
    if (!packed) {
      at = up_to(at, alignment[one]);
      if (alignment[one] > alignment[type]) alignment[type] = alignment[one];
    }
    count = split(places[one], all, " ");
    while (count > 0) { list = list " " (at + all[count]) substr(all[count], index(all[count], ":")); --count }
    at += step;
    if (at > most) return 0;
  }
  places[type] = list;
  return bytes[type] = up_to(at, alignment[type]);
}
function marked(name, type, number, dbg,   w, as) {
  split(width_of(type), w, " ");
  as = type == "i8" ? "i16" : is_pointer(type) ? "i64" : type;
  if (as != type) return marked(name "w", as, number, dbg) "\n  " name " = " (as == "i16" ? "trunc" : "inttoptr") " " as " " name "w to " type dbg;
  return "  " name " = call " type " asm \"mov." w[1] " $0, %simgpu_unset" kind[number] "; // " number " " line[place_of(dbg)] + 0 "\", \"=" w[2] "\"()" dbg;
}
function place_of(dbg) { sub(/^.*!dbg /, "", dbg); return dbg }
# Marks for the whole of a variable. Each type has one for all of its places.
function print_marks(variable, dbg,   n, k, all, at, type, value, place, aligned) {
  n = split(places[type_of[variable]], all, " ");
  split("", value);
  for (k = 1; k <= n; ++k) {
    at = all[k] + 0; type = substr(all[k], index(all[k], ":") + 1);
    if (!(type in value)) { value[type] = "%simgpu.u" ++made; print marked(value[type], type, number_of[variable], dbg) }
    place = "%simgpu.p" ++made;
    if (opaque) print "  " place " = getelementptr inbounds i8, ptr " variable ", i64 " at dbg;
    else {
      print "  " place "b = bitcast " type_of[variable] "* " variable " to i8*" dbg;
      print "  " place "g = getelementptr inbounds i8, i8* " place "b, i64 " at dbg;
      print "  " place " = bitcast i8* " place "g to " type "*" dbg;
    }
    aligned = at % bytes[type] == 0 && alignment[type_of[variable]] >= bytes[type] ? bytes[type] : 1;
    print "  store " type " " value[type] ", " (opaque ? "ptr " : type "* ") place ", align " aligned dbg;
  }
}

BEGIN { most = 8192 }
FNR == NR {
  if ($3 ~ /DILocation\(line:/) line[$1] = $4 + 0;
  if ($0 ~ /^%.* = type [<{]/) { name = $0; sub(/ = type .*$/, "", name); type = $0; sub(/^.* = type /, "", type); members[name] = type }
  next
}
/^define / { split("", type_of); split("", part_of); split("", number_of); split("", done) }
/^  %[^ ]+ = alloca / {
  type = $0; sub(/^.* = alloca /, "", type); sub(/, align [0-9]+.*$/, "", type);
  if (type ~ /^[[%]/ || width_of(type) != "") {
    type_of[$1] = type; number_of[$1] = ++variables;
    one = type; while (match(one, /^\[[0-9]+ x /)) one = substr(one, RLENGTH + 1, length(one) - RLENGTH - 1);
    plain = one !~ /^%/ || is_vector(one) || one ~ /^%struct\.__(half|nv_bfloat16)/;
    kind[variables] = width_of(type) != "" ? "_whole" : is_array(type) && plain ? "" : "_part";
  }
}
/^  %[^ ]+ = getelementptr / && match($0, /(\*|, ptr) %[^ ,]+,/) {
  name = substr($0, RSTART, RLENGTH - 1); sub(/^.* /, "", name);
  part_of[$1] = name in type_of ? name : part_of[name];
}
/^  %[^ ]+ = bitcast / && match($0, /\* %[^ ,]+ to /) {
  name = substr($0, RSTART + 2, RLENGTH - 6);
  part_of[$1] = name in type_of ? name : part_of[name];
}
!/!annotation / { print; next }
{
  dbg = ""; if (match($0, /, !dbg ![0-9]+/)) dbg = substr($0, RSTART, RLENGTH);
  opaque = $0 ~ /(,|\() *ptr /;
  # A store to it, memset(i8* align 16 %4, ...) or memcpy(ptr align 4 %7, ...): the first of them is for all.
  if (!match($0, /(\*|[ (]ptr)( align [0-9]+)? %[^ ,]+,/)) next;
  target = substr($0, RSTART, RLENGTH - 1); sub(/^.* /, "", target);
  base = target in type_of ? target : part_of[target];
  if (base == "" || base in done) next;
  done[base] = 1;
  number = number_of[base];
  if (dbg == "" && kind[number] != "") next;
  if (lay_out(type_of[base], 1) != 0) print_marks(base, dbg);
}
