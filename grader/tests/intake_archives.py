"""Archives that somebody made to harm or by mistake, each with what must become of it.

intake_archives.py make DIR: writes them, one student each. check INTAKE_JSON: compares what `grade --collect` found.
A case is a name, whether its lab1/gemm.cu is taken, and words that one of the remarks must have."""
import gzip
import io
import json
import os
import struct
import sys
import tarfile
import warnings
import zipfile

warnings.simplefilter("ignore")  # that a name is there twice is meant
GOOD = b"void gemm_naive(int);  // what the student wrote\n"
BAD = b"void gemm_naive(int);  // what must never be taken\n"
CASES = []


def case(name, taken, words):
    def add(make):
        CASES.append((name, taken, words, make))
        return make
    return add


def zipped(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data, *rest in files:
            info = zipfile.ZipInfo("x", (2026, 1, 1, 0, 0, 0))
            info.filename = name  # as it is: the constructor would mend it
            info.compress_type = method
            info.create_system = 3
            info.external_attr = (rest[0] if rest else 0o100644) << 16
            archive.writestr(info, data)
    return out.getvalue()


def tarred(members, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT) as archive:
        for name, data, *rest in members:
            info = tarfile.TarInfo(name)
            info.type = rest[0] if rest else tarfile.REGTYPE
            if info.type in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                info.linkname = data.decode()
                data = b""
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def simple(name, taken, words, files, **more):
    case(name + ".zip", taken, words)(lambda: zipped(files, **more))


def simple_tar(name, taken, words, members, mode="w"):
    case(name, taken, words)(lambda: tarred(members, mode))


# ---- as they should be
simple("z-plain", True, "", [("lab1/gemm.cu", GOOD)])
simple("z-stored", True, "", [("lab1/gemm.cu", GOOD)], method=zipfile.ZIP_STORED)
simple("z-wrapped", True, "", [("work-main/lab1_naive/gemm.cu", GOOD)])
simple("z-dot-slash", True, "", [("./lab1/gemm.cu", GOOD)])
simple("z-macos", True, "", [("lab1/gemm.cu", GOOD), ("__MACOSX/lab1/._gemm.cu", BAD), (".DS_Store", BAD)])
simple("z-folders-named", True, "", [("lab1/", b"", 0o40755), ("lab1/gemm.cu", GOOD)])
for ending, kind in ((".tar", "w"), (".tar.gz", "w:gz"), (".tgz", "w:gz"), (".tar.bz2", "w:bz2"), (".tar.xz", "w:xz")):
    simple_tar("t-plain-" + kind[2:] + ending[1:].replace(".", "") + ending, True, "", [("lab1/gemm.cu", GOOD)], kind)
simple_tar("t-ending-lies.zip", True, "", [("lab1/gemm.cu", GOOD)], "w:gz")
case("z-in-z.zip", True, "")(lambda: zipped([("work.zip", zipped([("lab1/gemm.cu", GOOD)]))]))
case("z-in-front-of-it.zip", True, "")(lambda: b"MZ" + b"\0" * 300 + zipped([("lab1/gemm.cu", GOOD)]))
simple("z-upper-case", True, "", [("LAB1/GEMM.CU", GOOD)])

# ---- paths
simple("p-backslashes", True, "", [("lab1\\gemm.cu", GOOD)])  # libarchive reads it as Windows means it
simple("p-backslashes-mixed", True, "backslashes", [("work/lab1\\gemm.cu", GOOD)])
simple("p-backslashes-up", False, "leaves its folder", [("..\\lab1\\gemm.cu", BAD)])
simple("p-up", False, "leaves its folder", [("../lab1/gemm.cu", BAD)])
simple("p-up-in-the-middle", False, "leaves its folder", [("a/../../lab1/gemm.cu", BAD)])
simple("p-absolute", False, "absolute path", [("/lab1/gemm.cu", BAD)])
simple("p-drive", False, "absolute path", [("C:\\lab1\\gemm.cu", BAD)])
simple("p-hidden-file", False, "hidden", [("lab1/.gemm.cu", BAD)])
simple("p-hidden-folder", False, "hidden", [(".lab/lab1/gemm.cu", BAD)])
simple("p-deep", False, "deeper than 8 folders", [("a/" * 300 + "lab1/gemm.cu", BAD)])
simple("p-bidi", False, "invisible or reorder", [("lab1\u202e/gemm.cu", BAD), ("\u2066lab1/gemm.cu", BAD)])
simple("p-zero-width", False, "invisible or reorder", [("la\u200bb1/gemm.cu", BAD)])
simple("p-escape-codes", False, "invisible or reorder", [("\x1b[2Jlab1/gemm.cu", BAD)])
simple("p-newline", False, "invisible or reorder", [("lab1\r/gemm.cu", BAD)])
simple("p-empty-parts", True, "", [("lab1//gemm.cu", GOOD)])
simple("p-long", False, "more than 255 bytes", [("x" * 60000 + "/gemm.cu", b"int nothing;")])
simple("p-command", False, "extra", [("$(touch x)/gemm.cu", b"int nothing;")])
simple_tar("p-up-in-tar.tar", False, "leaves its folder", [("../lab1/gemm.cu", BAD)])
simple_tar("p-absolute-in-tar.tar", False, "absolute path", [("/lab1/gemm.cu", BAD)])

# ---- twice
simple("d-twice", False, "there twice", [("lab1/gemm.cu", BAD), ("lab1/gemm.cu", BAD + b"2")])
simple("d-twice-by-dot", False, "there twice", [("lab1/gemm.cu", BAD), ("./lab1/gemm.cu", BAD)])
simple("d-twice-by-slash", False, "there twice", [("lab1/gemm.cu", BAD), ("lab1//gemm.cu", BAD)])
simple("d-case", False, "in case only", [("lab1/gemm.cu", BAD), ("lab1/Gemm.cu", BAD)])
simple("d-case-of-folder", False, "in case only", [("lab1/gemm.cu", BAD), ("LAB1/gemm.cu", BAD)])
simple("d-two-labs", True, "is there twice", [("lab1/gemm.cu", GOOD), ("old/lab1/gemm.cu", BAD)])
simple_tar("d-twice-in-tar.tar", False, "there twice", [("lab1/gemm.cu", BAD), ("lab1/gemm.cu", BAD)])

# ---- links and devices
simple("l-symlink", False, "symbolic link", [("lab1/gemm.cu", b"/etc/passwd", 0o120777)])
simple("l-symlink-folder", False, "symbolic link", [("lab1", b"/etc", 0o120777), ("lab1/passwd", BAD)])
simple("l-fifo", True, "", [("lab1/gemm.cu", GOOD, 0o010644)])  # libarchive: a file with these bytes; so it is
simple("l-device", False, "not a regular file", [("lab1/gemm.cu", BAD, 0o020644)])
simple_tar("l-symlink-in-tar.tar", False, "symbolic link", [("lab1/gemm.cu", b"/etc/passwd", tarfile.SYMTYPE)])
simple_tar("l-hardlink-in-tar.tar", False, "hard link", [("lab1/gemm.cu", b"/etc/passwd", tarfile.LNKTYPE)])
simple_tar("l-fifo-in-tar.tar", False, "not a regular file", [("lab1/gemm.cu", b"", tarfile.FIFOTYPE)])
simple_tar("l-device-in-tar.tar", False, "not a regular file", [("lab1/gemm.cu", b"", tarfile.CHRTYPE)])

# ---- too much
simple("b-large", False, "larger than 1 MiB", [("lab1/gemm.cu", b" " * (2 << 20))])
simple("b-total", False, "more than 16 MiB", [(f"{i}.cu", b" " * (1 << 20)) for i in range(20)])
simple("b-entries", False, "more than 2000 entries", [(f"{i}.txt", b"") for i in range(2500)] + [("lab1/gemm.cu", BAD)])
case("b-bomb.tar.gz", False, "larger than 1 MiB")(
    lambda: tarred([("lab1/gemm.cu", b"\0" * (64 << 20))], "w:gz"))
case("b-layers.zip", False, "an archive in an archive")(
    lambda: zipped([("1.zip", zipped([("2.zip", zipped([("lab1/gemm.cu", BAD)]))]))]))
case("b-many-archives.zip", False, "one of more than 8 archives")(
    lambda: zipped([(f"{i}.zip", zipped([("a.txt", b"")])) for i in range(9)]))


@case("b-size-lies.zip", False, "damaged")
def size_lies():
    """The directory promises 4 GiB less one of four bytes."""
    data = bytearray(zipped([("lab1/gemm.cu", BAD)]))
    at = data.find(b"PK\x01\x02")
    data[at + 24:at + 28] = struct.pack("<I", 900000)
    local = data.find(b"PK\x03\x04")
    data[local + 22:local + 26] = struct.pack("<I", 900000)
    return bytes(data)


@case("b-sparse.tar", False, "larger than 1 MiB")
def sparse():
    """A GNU sparse file: a header of 512 bytes that claims 1 TiB."""
    info = tarfile.TarInfo("lab1/gemm.cu")
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    head[156:157] = b"S"
    head[386:398] = b"%011o\0" % ((1 << 33) - 1)
    head[398:410] = b"%011o\0" % 1
    head[483:495] = b"%011o\0" % ((1 << 33) - 1)
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + b"\0" * 1024


# ---- broken
case("x-nothing.zip", False, "not a zip or tar archive")(lambda: b"")
case("x-text.zip", False, "not a zip or tar archive")(lambda: b"this is no archive\n" * 50)
case("x-rar.zip", False, "not a zip or tar archive")(lambda: b"Rar!\x1a\x07\x01\x00" + b"\0" * 600)
case("x-cut.zip", False, "not a zip or tar archive")(lambda: zipped([("lab1/gemm.cu", BAD)])[:-10])
case("x-cut-in-tar.tar.gz", False, "damaged")(
    lambda: tarred([("lab1/gemm.cu", os.urandom(9000))], "w:gz")[:4000])
case("x-zeros.tar", False, "an archive without a file")(lambda: b"\0" * 10240)


@case("x-checksum.zip", False, "damaged")
def checksum():
    data = zipped([("lab1/gemm.cu", BAD)], zipfile.ZIP_STORED)
    return data.replace(b"must never", b"must  never"[:10])


@case("x-encrypted.zip", False, "encrypted")
def encrypted():
    data = bytearray(zipped([("lab1/gemm.cu", BAD)]))
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@case("x-method.zip", False, "damaged")
def method():
    data = bytearray(zipped([("lab1/gemm.cu", BAD)]))
    data[8:10] = struct.pack("<H", 77)
    at = data.find(b"PK\x01\x02")
    data[at + 10:at + 12] = struct.pack("<H", 77)
    return bytes(data)


@case("x-two-faces.zip", True, "")
def two_faces():
    """What a reader from the front finds is not in the directory at the end: only the directory counts."""
    hidden = zipped([("lab1/gemm.cu", BAD)])
    front = hidden[:hidden.find(b"PK\x01\x02")]
    shown = zipped([("lab1/gemm.cu", GOOD)])
    at, end = shown.find(b"PK\x01\x02"), shown.find(b"PK\x05\x06")
    directory = bytearray(shown[at:end])
    directory[42:46] = struct.pack("<I", len(front))
    tail = bytearray(shown[end:])
    tail[16:20] = struct.pack("<I", len(front) + at)
    return front + shown[:at] + bytes(directory) + bytes(tail)


# ---- names and sizes that stand twice in a head
def with_pax(name, records, data=BAD):
    """A tar of one file, before which a pax header says other things of it: also such as tarfile does not write."""
    said = b""
    for key, value in records:
        body = b" " + key + b"=" + value + b"\n"
        size = len(body) + 1
        while len(str(size)) + len(body) != size:
            size = len(str(size)) + len(body)
        said += str(size).encode() + body
    parts = []
    for path, kind, content in (("PaxHeaders/x", tarfile.XHDTYPE, said), (name, tarfile.REGTYPE, data)):
        info = tarfile.TarInfo(path)
        info.type, info.size = kind, len(content)
        parts += [info.tobuf(tarfile.USTAR_FORMAT), content, b"\0" * (-len(content) % 512)]
    return b"".join(parts) + b"\0" * 1024


def with_size(size):
    """A tar whose file has a size in base 256."""
    head = bytearray(tarfile.TarInfo("lab1/gemm.cu").tobuf(tarfile.GNU_FORMAT))
    head[124:136] = size
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + b"\0" * 1024


case("n-pax-up.tar", False, "leaves its folder")(lambda: with_pax("lab1/gemm.cu", [(b"path", b"../lab1/gemm.cu")]))
case("n-pax-absolute.tar", False, "absolute path")(lambda: with_pax("lab1/gemm.cu", [(b"path", b"/lab1/gemm.cu")]))
case("n-pax-good.tar", True, "")(lambda: with_pax("../evil", [(b"path", b"lab1/gemm.cu")], GOOD))
case("n-pax-link.tar", True, "")(lambda: with_pax("lab1/gemm.cu", [(b"linkpath", b"/etc/passwd")], GOOD))
case("n-pax-size.tar", False, "damaged")(lambda: with_pax("lab1/gemm.cu", [(b"size", b"99999999999999999999")]))
case("n-pax-huge.tar", False, "damaged")(lambda: with_pax("lab1/gemm.cu", [(b"comment", b"x" * (8 << 20))]))
case("n-negative.tar", False, "damaged")(lambda: with_size(b"\xff" * 12))
case("n-exabytes.tar", False, "damaged")(lambda: with_size(b"\x80\0\0\0\x7f" + b"\xff" * 7))
case("n-two-members.tar.gz", True, "")(
    lambda: b"".join(gzip.compress(part) for part in (lambda whole: (whole[:512], whole[512:]))(tarred([("lab1/gemm.cu", GOOD)]))))
simple("n-trailing-blank", False, "extra", [("lab1/gemm.cu ", b"int nothing;")])
simple("n-fullwidth", False, "extra", [("lab1/\uff47emm.cu", b"int nothing;")])
simple("n-stream", False, "extra", [("lab1/gemm.cu:hidden", b"int nothing;")])
simple("n-second-upload", True, "", [("lab1/gemm (1).cu", GOOD)])
simple_tar("n-folder-as-file.tar", False, "extra", [("lab1/gemm.cu", b"", tarfile.DIRTYPE), ("lab1/gemm.cu/x", b"")])
simple_tar("n-hardlink-to-itself.tar", False, "hard link", [("lab1/gemm.cu", b"lab1/gemm.cu", tarfile.LNKTYPE)])
simple_tar("n-volume-name.tar", False, "an archive without a file", [("lab1/gemm.cu", b"", b"V")])
simple_tar("n-second-volume.tar", False, "not a regular file", [("lab1/gemm.cu", BAD, b"M")])


def make(folder):
    os.makedirs(folder, exist_ok=True)
    for name, _, _, build in CASES:
        with open(os.path.join(folder, name), "wb") as out:
            out.write(build())


def check(path):
    with open(path, encoding="utf-8") as text:
        students = {one["id"]: one for one in json.load(text)["students"]}
    folder = os.path.dirname(path)
    failed = 0
    for name, taken, words, _ in CASES:
        stem = name
        for ending in (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tar", ".zip"):
            if stem.endswith(ending):
                stem = stem[:-len(ending)]
                break
        one = students.get(stem)
        wrong = []
        if one is None:
            wrong = ["no such student"]
        else:
            file = os.path.join(folder, one["folder"], "lab1_naive", "gemm.cu")
            there = open(file, "rb").read() if os.path.exists(file) else b""
            if there != (GOOD if taken else b""):
                wrong.append(f"taken: {there[:60]!r}")
            if not any(words in remark for remark in one["remarks"]):
                wrong.append(f"no remark has '{words}'")
            if not taken and not any("no submission" in remark for remark in one["remarks"]):
                wrong.append("it does not say that there is no submission")
            if any(any(ord(c) < 32 or c in "\u202e\u2066\u200b" for c in remark) for remark in one["remarks"]):
                wrong.append("a character that must not be shown")
        failed += bool(wrong)
        print(f"{'FAILED ' if wrong else 'ok     '} {name}" +
              (f": {'; '.join(wrong)}; {one and one['remarks']}" if wrong else ""))
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(make(sys.argv[2]) if sys.argv[1] == "make" else min(check(sys.argv[2]), 1))
