"""Compiles modules for the bytecode fixtures: `compile_cases.py request.json response.json`.

The request is a list of {path, source, stored}; `stored` is the marshalled code the fixture holds (hexadecimal) or null. The
answer has for each module {same: true} if that code equals what this interpreter compiles, else {marshal: hexadecimal} or
{error: text}. Code is compared by content: the reference flags of marshal depend on what else the process holds.
"""
import json
import marshal
import sys
import types

FIELDS = (
    "argcount posonlyargcount kwonlyargcount flags stacksize firstlineno nlocals code names varnames freevars cellvars"
    " filename name qualname exceptiontable"
).split()
FIELDS.append("linetable" if sys.version_info >= (3, 10) else "lnotab")


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, types.CodeType):
        return same(left.co_consts, right.co_consts) and all(
            getattr(left, "co_" + field, None) == getattr(right, "co_" + field, None) for field in FIELDS
        )
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, frozenset):
        return sorted(map(repr, left)) == sorted(map(repr, right))
    return repr(left) == repr(right)


def answer(module):
    try:
        code = compile(module["source"], module["path"], "exec", dont_inherit=True, optimize=0)
    except SyntaxError as error:
        return {"error": str(error)}
    if module["stored"]:
        try:
            if same(marshal.loads(bytes.fromhex(module["stored"])), code):
                return {"same": True}
        except (ValueError, EOFError, TypeError):
            pass
    return {"marshal": marshal.dumps(code).hex()}


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        request = json.load(stream)
    with open(sys.argv[2], "w", encoding="utf-8") as stream:
        json.dump([answer(module) for module in request], stream)


main()
