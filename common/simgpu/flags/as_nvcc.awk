# Of LLVM's text before any optimisation: says of it what nvcc's front end takes for granted and clang does not.
#
#   - An asm statement that only computes may stand anywhere. clang calls it convergent, as it calls every asm statement of
#     CUDA's device code, and unrolls no loop of unknown length around one: none with __ldg, __expf, __dp4a or arithmetic
#     on halves. nvcc 13.0 unrolls all of them by four. What lanes do together stays as it is, and what orders memory.
#   - *(unsigned*)&tile[r][k], of a __shared__ array of halves or bytes, is one access of 4 bytes. clang knows that the array
#     is aligned to 2 or 1 and reads it piece by piece. A member of a packed struct nvcc takes apart as well.
#   - blockDim and its kin are within the limits of the Programming Guide's table of compute capabilities. clang 14 does not
#     use that, and unrolls no loop of the form `for (int i = tid; i < n; i += bs)`, with `int bs = blockDim.x`: for all it
#     knows, bs is negative.
#
#   - Shared and global memory never overlap, and no pointer that a kernel is given points to shared memory. For clang every
#     pointer may point anywhere, so it reads a value again after a store that cannot have changed it.
#   - An atomic orders nothing but itself: for clang it is a fence, across which it reads everything again. Nor does an asm
#     statement change memory that names none and orders nothing, such as match.any, redux or activemask.
#   - A struct in shared memory stays whole. clang makes a variable of each member where no address but theirs is taken, and
#     each of them is as aligned as the struct was, so that they lie apart and are stored and loaded one by one.
#
# The text is read twice: first for the attributes (#3) that asm statements have, and for where pointers come from.

function size_of(type) {
  if (type ~ /^(i16|half|bfloat)$/) return 2
  if (type ~ /^(i32|float)$/) return 4
  if (type ~ /^(i64|double|ptr)$/ || type ~ /\*$/) return 8
  return 0
}
# The value that an address was made of; "@" if it is a __shared__ variable, "" if nothing is known or a struct is packed.
function origin(text,   name) {
  if (text ~ /addrspace\(3\)\*? @/) return "@"
  if (match(text, /(ptr|\*) %[^ ,)]+/)) {
    name = substr(text, RSTART, RLENGTH); sub(/^.* /, "", name)
    return from[name]
  }
  return ""
}
# The pointer at the end of a text; "" if it is a constant.
function pointer(text) {
  if (!match(text, /(ptr|\*) %[^ ,)]+$/)) return ""
  sub(/^.* /, "", text)
  return text
}
# From the first reading: what an address is made of, and what the variables (allocas) of function f hold. "*%3" is what lies
# in %3, "@" a __shared__ variable. A variable whose own address goes elsewhere may hold anything.
function note(   text, name, value) {
  text = $0; sub(/, (align |!).*/, "", text)
  if (/^  %[^ ]+ = alloca /) { variable[f, $1] = 1; return }
  if (/^  %[^ ]+ = load /) {
    name = pointer(text); made_of[f, $1] = "*" name
    if ((f, name) in renamed) escapes[f, renamed[f, name]] = 1
    return
  }
  if (/^  store /) {
    name = pointer(text)
    if ((f, name) in renamed) escapes[f, renamed[f, name]] = 1
    value = text; sub(/, [^,]*$/, "", value)
    if (value ~ /^  store (volatile )?(ptr|[^ ]*\*) .*addrspace\(3\)\*? @/) stored[f, name] = stored[f, name] " @"
    else if (pointer(value) != "") {
      value = pointer(value); stored[f, name] = stored[f, name] " " value
      if ((f, value) in variable) escapes[f, value] = 1
      if ((f, value) in renamed) escapes[f, renamed[f, value]] = 1
    } else if (value !~ /^  store (volatile )?(i[0-9]+|half|bfloat|float|double) /) escapes[f, name] = 1
    return
  }
  if (/^  %[^ ]+ = (getelementptr|bitcast|addrspacecast) /) {
    if (text ~ /addrspace\(3\)\*? @/) { made_of[f, $1] = "@"; return }
    if (!match(text, /(ptr|\*) %[^ ,)]+/)) return
    name = substr(text, RSTART, RLENGTH); sub(/^.* /, "", name)
    made_of[f, $1] = name
    if (!((f, name) in variable)) return
    if (/ = bitcast /) renamed[f, $1] = name; else escapes[f, name] = 1
    return
  }
  if (/call void @llvm[.](lifetime|dbg)[.]/) return
  while (match(text, /%[^ ,()}]+/)) {
    name = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
    if ((f, name) in variable) escapes[f, name] = 1
    if ((f, name) in renamed) escapes[f, renamed[f, name]] = 1
  }
}
# Where a pointer may lead, each once: "g" what the kernel was given, "s" shared memory, "?" anywhere.
function leads_to(name,   id, slot, list, n, k, all) {
  if (name == "@") return "s"
  id = f SUBSEP name
  if (id in seen) return ""
  seen[id] = 1
  if (id in argument) return f in kernel ? "g" : "?"
  if (!(id in made_of)) return "?"
  if (made_of[id] !~ /^\*/) return leads_to(made_of[id])
  slot = f SUBSEP substr(made_of[id], 2)
  if (!(slot in variable) || !(slot in stored) || slot in escapes) return "?"
  n = split(stored[slot], list, " ")
  for (k = 1; k <= n && all !~ /[?]/; ++k) all = all leads_to(list[k])
  return all
}
function computes() {
  return / asm (sideeffect )?"/ && !/~[{]memory[}]|\.sync|bar[.]|barrier|activemask|vote|shfl|match|nanosleep|clock|globaltimer|trap/
}
# An asm statement that only lanes see: no address in it, no clobber of memory, and nobody waits for memory there. Around
# products of tensor cores nvcc leaves loads where they are: clang would fetch a step's first fragments once less.
function is_quiet() {
  return / asm sideeffect "/ && !/~[{]memory[}]|[[]|bar[.]|barrier|fence|nanosleep|griddep|setmaxnreg|commit|wait|mma|call[.]/
}

/^define / {
  split("", from)
  match($0, /@("[^"]*"|[^ (]+)[(]/); f = substr($0, RSTART, RLENGTH - 1)
  if (FNR == NR) {
    if (/ ptx_kernel /) kernel[f] = 1
    text = substr($0, RSTART + RLENGTH)
    while (match(text, /%[^ ,()]+[,)]/)) { argument[f, substr(text, RSTART, RLENGTH - 1)] = 1; text = substr(text, RSTART + RLENGTH) }
  }
}
FNR == NR && /^  [^ ]/ { note() }
FNR == NR && /, !"kernel", i32 1/ { match($0, /@("[^"]*"|[^ ,]+),/); kernel[substr($0, RSTART, RLENGTH - 1)] = 1 }
# By function: the instruction that it makes of its arguments as they are.
FNR == NR && f ~ /^@_ZL?[0-9]+atomic(Add|Exch|Min|Max|And|Or|Xor)(_block|_system)?P/ {
  if (/^  %[^ ]+ = atomicrmw / && !(f in instruction) && !/syncscope/) instruction[f] = $4
  else if (/^  %[^ ]+ = (atomicrmw|sub|fneg|call) /) instruction[f] = ""
}
FNR == NR {
  if (/^![0-9]+ = /) { id = substr($1, 2) + 0; if (id > nodes) nodes = id }
  if (/^attributes #/) { text = $0; sub(/^[^{]*/, "", text); attributes[$2] = text; if (substr($2, 2) + 0 > last) last = substr($2, 2) + 0 }
  if (/^@llvm[.]used = /) is_used = 1
  if (/^@("[^"]*"|[^ ]+) = internal (unnamed_addr )?addrspace\(3\) global %/) {
    name = $0; sub(/ = internal .*/, "", name)
    type = $0; sub(/^.*addrspace\(3\) global /, "", type); sub(/ (undef|poison|zeroinitializer), .*/, "", type)
    structs[name] = type
  }
  if (/^  .*addrspace\(3\)\*? @/) {
    text = $0
    while (match(text, /addrspace\(3\)\*? @("[^"]*"|[^ ,()]+)/)) {
      name = substr(text, RSTART, RLENGTH); sub(/^[^@]*/, "", name)
      wanted[name] = 1; text = substr(text, RSTART + RLENGTH)
    }
  }
  if (/(^|[ (])ptr /) opaque = 1
  if (/^%.* = type <\{/) { name = $1; packed[name] = 1 }
  next
}
(is_quiet() || computes()) && match($0, /\) #[0-9]+/) {
  name = substr($0, RSTART + 2, RLENGTH - 2)
  at = RSTART + 2; rest = RSTART + RLENGTH
  if (attributes[name] ~ /[ {]convergent /) {
    kind = name (computes() ? " plain" : "") (is_quiet() ? " quiet" : "")
    if (!(kind in changed)) changed[kind] = "#" (++last)
    $0 = substr($0, 1, at - 1) changed[kind] substr($0, rest)
  }
}
# The functions of CUDA are one instruction each: it takes the place of the call, since what is known of its address is
# known only here. One that changes nothing, such as atomicAdd(p, 0), stays: clang would make a load of it.
/^  %[^ ]+ = (tail )?call .*@_ZL?[0-9]+atomic[A-Z]/ && match($0, /@[^ (]+/) {
  name = substr($0, RSTART, RLENGTH); text = substr($0, RSTART + RLENGTH + 1)
  if (instruction[name] && text !~ /, i[0-9]+ (noundef )?(0|-1)[)]/ && match(text, /^(ptr|[a-z0-9]+[*]) (noundef )?%[^ ,)]+, [a-z0-9]+ (noundef )?[^ ,)]+[)]/)) {
    rest = substr(text, RSTART + RLENGTH); text = substr(text, 1, RLENGTH - 1); gsub(/noundef /, "", text)
    place = text; sub(/,.*/, "", place); sub(/^.* /, "", place)
    split("", seen)
    to = leads_to(place)
    if (to ~ /^(g+|s+)$/) {
      if (!shared) { shared = nodes + 3; nodes += 3 }
      match(rest, /, !dbg ![0-9]+/); line = RSTART ? substr(rest, RSTART, RLENGTH) : ""
      $0 = "  " $1 " = atomicrmw " instruction[name] " " text " monotonic" line \
        (to ~ /g/ ? ", !noalias !" : ", !alias.scope !") shared
    }
  }
}
/^  %[^ ]+ = (getelementptr|bitcast|addrspacecast) / {
  type = $0; sub(/^.* = getelementptr (inbounds )?((nuw|nusw|nsw) )*/, "", type); sub(/,.*/, "", type)
  from[$1] = type in packed ? "" : origin($0)
}
(/^  %[^ ]+ = load / || /^  store /) && !/ volatile | atomic / && match($0, /, align [12]?[0-9]*/) {
  at = RSTART + 8; rest = RSTART + RLENGTH; aligned = substr($0, at, rest - at) + 0
  if ($1 == "store") { type = $2; address = $0; sub(/^  store [^,]*, /, "", address) }
  else { type = $4; sub(/,$/, "", type); address = $0; sub(/^[^,]*, /, "", address) }
  if (aligned < size_of(type) && origin(address) == "@")
    $0 = substr($0, 1, at - 1) size_of(type) substr($0, rest)
}
/ call i32 @llvm[.]nvvm[.]read[.]ptx[.]sreg[.]n(ctaid|tid)[.][xyz][(][)]/ && !/!range/ {
  match($0, /sreg[.]n(ctaid|tid)[.][xyz][(][)]/)
  name = substr($0, RSTART + 5, RLENGTH - 7)
  if (!(name in range)) range[name] = ++nodes
  $0 = substr($0, 1, RSTART + RLENGTH - 1) ", !range !" range[name] substr($0, RSTART + RLENGTH)
}
(/^  %[^ ]+ = load / || /^  store /) && !/ volatile | atomic / {
  text = $0; sub(/, (align |!).*/, "", text)
  split("", seen)
  to = text ~ /addrspace\(3\)\*? @[^,]*$/ || origin(text) == "@" ? "s" : leads_to(pointer(text))
  if (to ~ /^(g+|s+)$/) {
    if (!shared) { shared = nodes + 3; nodes += 3 }
    $0 = $0 (to ~ /g/ ? ", !noalias !" : ", !alias.scope !") shared
  }
}
{ print }
END {
  for (name in structs) if (name in wanted) {
    kept = opaque ? "ptr addrspacecast (ptr addrspace(3) " name " to ptr)" : \
      "i8* addrspacecast (i8 addrspace(3)* bitcast (" structs[name] " addrspace(3)* " name " to i8 addrspace(3)*) to i8*)"
    whole = whole (whole == "" ? "" : ", ") kept; ++count_whole
  }
  if (whole != "" && !is_used)
    print "@llvm.used = appending global [" count_whole " x " (opaque ? "ptr" : "i8*") "] [" whole "], section \"llvm.metadata\""
  if (shared) {
    print "!" shared - 2 " = distinct !{!" shared - 2 ", !\"simgpu\"}"
    print "!" shared - 1 " = distinct !{!" shared - 1 ", !" shared - 2 ", !\"shared memory\"}"
    print "!" shared " = !{!" shared - 1 "}"
  }
  for (name in range) {
    dim = substr(name, length(name)); count = name ~ /^n/
    most = name ~ /ctaid/ ? (dim == "x" ? 2147483647 : 65535) : (dim == "z" ? 64 : 1024)
    # A count is from 1 to that many, an index from 0 to one less.
    print "!" range[name] " = !{i32 " count ", i32 " (most + count == 2147483648 ? "-2147483648" : most + count) "}"
  }
  for (kind in changed) {
    split(kind, part, " "); text = attributes[part[1]]
    if (kind ~ / plain/) sub(/convergent /, "willreturn ", text)
    if (kind ~ / quiet/) sub(/[{]/, "{ inaccessiblememonly", text)
    print "attributes " changed[kind] " = " text
  }
}
