"""Compiles a tree with the running interpreter and prints what that interpreter says of every code object.

    python dump_fields.py OUT TREE...

Below OUT it writes `<tree>/<path>.pyc` for each `.py` file and `fields.jsonl`, one line per code object, as the example
`dump_fields` of the crate `pyc` prints it. Files that do not compile are skipped and counted. Runs on 3.8 and newer.
"""
import builtins
import dis
import json
import marshal
import os
import struct
import sys
import types
import warnings
import zlib
from importlib.util import MAGIC_NUMBER

VERSION = sys.version_info[:2]
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
FROZENDICT = getattr(builtins, "frozendict", None)


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def show(text):
    plain = [chr(b) if 32 <= b < 127 and chr(b) not in '%"\\' else "%%%02x" % b for b in utf8(text)]
    return "".join(plain)


def digest(data):
    return [len(data), zlib.crc32(data)]


def run(kind, data):
    return "%s%d:%d" % (kind, len(data), zlib.crc32(data))


def canonical(value, numbers):
    kind = type(value)
    if value is None:
        return "N"
    if kind is bool:
        return "T" if value else "F"
    if value is ...:
        return "E"
    if kind is int:
        if -(1 << 63) <= value < 1 << 63:
            return "i%d" % value
        digits, rest = [], abs(value)
        while rest:
            digits.append(str(rest & 0x7FFF))
            rest >>= 15
        return "l%s%s" % ("-" if value < 0 else "", ".".join(digits))
    if kind is float:
        return "f" + struct.pack("<d", value).hex()
    if kind is complex:
        return "x" + struct.pack("<dd", value.real, value.imag).hex()
    if kind is bytes:
        return run("b", value)
    if kind is str:
        return run("s", utf8(value))
    if kind is tuple:
        return "(%s)" % ",".join(canonical(item, numbers) for item in value)
    if kind is frozenset:
        return "<%s>" % ",".join(sorted(canonical(item, numbers) for item in value))
    if kind is slice:
        return ":" + ",".join(canonical(item, numbers) for item in (value.start, value.stop, value.step))
    if kind is types.CodeType:
        return "c%d" % numbers[id(value)]
    if FROZENDICT is not None and kind is FROZENDICT:
        return "{%s}" % ",".join(canonical(x, numbers) for pair in value.items() for x in pair)
    raise TypeError(kind)


def number(value):
    return "-" if value is None else str(value)


def units(code):
    """Positions and lines of each code unit."""
    count = len(code.co_code) // 2
    if VERSION >= (3, 10):
        lines = [None] * count
        for start, end, line in code.co_lines():
            lines[start // 2 : end // 2] = [line] * (end // 2 - start // 2)
    else:
        lines, starts = [], dict(dis.findlinestarts(code))
        current = code.co_firstlineno
        for unit in range(count):
            current = starts.get(unit * 2, current)
            lines.append(current)
    if VERSION >= (3, 11):
        spans = [(line, col, end, end_col) for line, end, col, end_col in code.co_positions()]
        spans += [(None,) * 4] * (count - len(spans))
    else:
        spans = [(line, None, line, None) for line in lines]
    text = "".join("%s,%s,%s,%s;" % tuple(map(number, span)) for span in spans)
    return digest(text.encode()), digest("".join(number(line) + ";" for line in lines).encode())


def exceptions(code):
    if VERSION < (3, 11):
        return []
    entries = dis._parse_exception_table(code)
    return [[entry.start, entry.end, entry.target, entry.depth, entry.lasti] for entry in entries]


def collect(value, parent, order, numbers):
    """Code objects in preorder, each once."""
    if type(value) is types.CodeType:
        if id(value) in numbers:
            return
        numbers[id(value)] = len(order)
        order.append((value, parent))
        for constant in value.co_consts:
            collect(constant, numbers[id(value)], order, numbers)
    elif type(value) in (tuple, frozenset):
        for item in value:
            collect(item, parent, order, numbers)


def computed(order, names):
    """The qualified name as the reader computes it before 3.11; from then on the recorded one."""
    for code, parent in order:
        if VERSION >= (3, 11):
            names.append(code.co_qualname)
        elif not parent:
            names.append(code.co_name)
        else:
            outer = order[parent][0]
            function = outer.co_flags & 1 and outer.co_name not in COMPREHENSIONS
            names.append(names[parent] + (".<locals>." if function else ".") + code.co_name)
    return names


def dump(file, root, out):
    order, numbers = [], {}
    collect(root, None, order, numbers)
    names = computed(order, [])
    for index, (code, parent) in enumerate(order):
        positions, lines = units(code)
        consts = "".join(canonical(constant, numbers) + ";" for constant in code.co_consts)
        record = {
            "file": file,
            "code": index,
            "parent": parent,
            "name": show(code.co_name),
            "qualname": show(code.co_qualname) if VERSION >= (3, 11) else None,
            "computed": show(names[index]),
            "filename": show(code.co_filename),
            "counts": [
                code.co_argcount,
                code.co_posonlyargcount,
                code.co_kwonlyargcount,
                code.co_stacksize,
                code.co_flags,
            ],
            "firstlineno": code.co_firstlineno,
            "co_code": digest(code.co_code),
            "consts": digest(consts.encode()),
            "names": [show(name) for name in code.co_names],
            "varnames": [show(name) for name in code.co_varnames],
            "cellvars": [show(name) for name in code.co_cellvars],
            "freevars": [show(name) for name in code.co_freevars],
            "positions": positions,
            "lines": lines,
            "exceptions": exceptions(code),
            "problem": None,
        }
        out.write(json.dumps(record) + "\n")
    return len(order)


def sources(tree):
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def main(out, trees):
    os.makedirs(out, exist_ok=True)
    counts = {"files": 0, "skipped": 0, "codes": 0}
    with open(os.path.join(out, "fields.jsonl"), "w") as lines:
        for tree in trees:
            for path in sources(tree):
                file = os.path.join(os.path.basename(tree), os.path.relpath(path, tree)) + "c"
                with open(path, "rb") as source:
                    text = source.read()
                try:
                    data = marshal.dumps(compile(text, path, "exec", dont_inherit=True))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    counts["skipped"] += 1
                    continue
                target = os.path.join(out, file)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as compiled:
                    compiled.write(MAGIC_NUMBER + b"\0" * 12 + data)
                counts["files"] += 1
                counts["codes"] += dump(file, marshal.loads(data), lines)
    print("%d.%d" % VERSION, json.dumps(counts), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000 if VERSION < (3, 12) and sys.platform != "emscripten" else sys.getrecursionlimit())
    main(sys.argv[1], [tree.rstrip("/") for tree in sys.argv[2:]])
