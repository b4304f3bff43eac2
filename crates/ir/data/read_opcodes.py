"""Reads the opcode facts of the running CPython and prints them as JSON.

    python3.12 read_opcodes.py > opcodes/3.12.json

Works on every CPython from 3.8 on. Versions that are not installed natively run as WebAssembly under Node, from the npm
package `pyodide`: 314.0.7 is CPython 3.14.2, 315.0.0-alpha.2 is 3.15.0rc1.

    npm install pyodide@314.0.7
    node --input-type=module -e '
      import { loadPyodide } from "pyodide"; import { readFileSync } from "node:fs";
      const python = await loadPyodide();
      python.runPython(readFileSync("read_opcodes.py", "utf8"));' > opcodes/3.14.json

Facts: opcode numbers (pseudo, instrumented and specialised opcodes left out: they never occur in a `.pyc`), inline cache
words, jump kinds, kinds of operand, the tables that operands index, and the stack effect that `dis.stack_effect` reports.
An effect is one number, or `[falling through, jumping]` where these differ, or a map from operand to either.
"""

import dis
import json
import opcode
import sys

OPARGS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 32, 256, 257, 258]
KINDS = ["const", "name", "local", "free", "compare"]
# Its operand in 3.14 and later tells monitoring where the loop began; nothing jumps there.
NO_JUMP = {"END_ASYNC_FOR"}


def table(*names):
    """The first of these attributes that `opcode` or `_opcode` has, else an empty list."""
    import _opcode

    for name in names:
        for module in (opcode, _opcode):
            value = getattr(module, name, None)
            if value is not None:
                return value() if callable(value) else value
    return []


def effect_of(code, arg):
    """`[falling through, jumping]`, or None where the operand is not valid."""
    try:
        return [dis.stack_effect(code, arg, jump=jump) for jump in (False, True)]
    except ValueError:
        return None


def effect(code, has_argument):
    """The stack effect in its shortest form."""
    by_arg = {}
    for arg in OPARGS if has_argument else [None]:
        pair = effect_of(code, arg)
        if pair is not None:
            by_arg[str(arg)] = pair[0] if pair[0] == pair[1] else pair
    values = list(by_arg.values())
    if not values:
        return None
    return values[0] if all(value == values[0] for value in values) else by_arg


def jump_kind(name, code):
    """How the operand names a jump target."""
    if name in NO_JUMP:
        return None
    if code in opcode.hasjabs:
        return "absolute"
    if code in opcode.hasjrel:
        return "backward" if "BACKWARD" in name else "forward"
    return None


def caches_of(name, code):
    """The number of cache words behind the opcode."""
    entries = getattr(opcode, "_inline_cache_entries", None)
    if entries is None:
        return 0
    return entries.get(name, 0) if hasattr(entries, "get") else entries[code]


def facts_of(name, code):
    """What is known of one opcode."""
    has_argument = code in opcode.hasarg if hasattr(opcode, "hasarg") else code >= opcode.HAVE_ARGUMENT
    facts = {"code": code, "caches": caches_of(name, code), "jump": jump_kind(name, code)}
    facts["operand"] = next((kind for kind in KINDS if code in getattr(opcode, "has" + kind)), None)
    facts["effect"] = effect(code, has_argument)
    return {key: value for key, value in facts.items() if value is not None and (key, value) != ("caches", 0)}


def constant_name(value):
    """A common constant as source text."""
    return getattr(value, "__name__", None) or repr(value)


def main():
    real = {
        name: code
        for name, code in opcode.opmap.items()
        if code < 256 and not name.startswith("INSTRUMENTED_")
    }
    flags = {str(bit): name for bit, name in dis.COMPILER_FLAG_NAMES.items()}
    facts = {
        "version": "%d.%d" % sys.version_info[:2],
        "have_argument": opcode.HAVE_ARGUMENT,
        "extended_arg": opcode.EXTENDED_ARG,
        "cmp_op": list(opcode.cmp_op),
        "nb_ops": [name for name, _ in table("_nb_ops", "get_nb_ops")],
        "intrinsic_1": list(table("_intrinsic_1_descs", "get_intrinsic1_descs")),
        "intrinsic_2": list(table("_intrinsic_2_descs", "get_intrinsic2_descs")),
        "special_methods": list(table("_special_method_names", "get_special_method_names")),
        "common_constants": [constant_name(value) for value in table("_common_constants")],
        "flags": flags,
    }
    lines = ["  %s: %s," % (json.dumps(key), json.dumps(value)) for key, value in facts.items()]
    rows = sorted(real.items(), key=lambda row: row[1])
    opcodes = ["    %s: %s" % (json.dumps(name), json.dumps(facts_of(name, code))) for name, code in rows]
    print("\n".join(["{"] + lines + ['  "opcodes": {', ",\n".join(opcodes), "  }", "}"]))


main()
