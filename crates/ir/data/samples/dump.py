"""Prints what the running CPython makes of `sample.py`, as JSON: the marshalled code and `dis`'s view of it.

    python3.12 dump.py < sample.py > 3.12.json

Versions without a native interpreter run under Node as `../read_opcodes.py` says, with `sample.py` as standard input.
Per code object, in preorder: instructions `[offset, name, jump target or null]` and exception entries
`[start, end, handler, depth, lasti]`.
"""

import dis
import json
import marshal
import sys
import types


def jump_target(instruction):
    """The byte offset an instruction may jump to."""
    # The operand of END_ASYNC_FOR in 3.14 is for monitoring.
    jumps = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
    return instruction.argval if jumps and instruction.opname != "END_ASYNC_FOR" else None


def facts(code):
    """The facts of a code object and those inside it."""
    bytecode = dis.Bytecode(code)
    entries = getattr(bytecode, "exception_entries", [])
    yield {
        "name": code.co_name,
        "instructions": [[i.offset, i.opname, jump_target(i)] for i in bytecode],
        "exceptions": [[e.start, e.end, e.target, e.depth, e.lasti] for e in entries],
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from facts(constant)


def main():
    code = compile(sys.stdin.read(), "sample.py", "exec")
    print('{"marshal": "%s", "codes": [' % marshal.dumps(code).hex())
    print(",\n".join(json.dumps(one, separators=(",", ":")) for one in facts(code)))
    print("]}")


main()
