"""Compiles Python source for another process: bytes in, marshalled code objects out.

The answers go to standard output. First a greeting: b"HOGNOSE1", then major and minor version and the magic number
(one, one and two bytes) and the name of the implementation. Then for each request (file name, source) one answer: a
status byte, and for status 0 the marshalled code, else line and column (in characters, from 1; 0 if unknown) and a
message. Strings have their length before them. Numbers are little-endian with 32 bits, if not said otherwise. Nothing
of the source is executed or imported.
"""
import gc
import marshal
import sys

COMPILED, SYNTAX_ERROR, ENCODING_ERROR, FAILED = range(4)


def located(source, filename, error):
    """The same error with its column in characters: up to 3.12 it is in bytes if the source is given as bytes."""
    try:
        compile(source.decode("utf-8-sig"), filename, "exec", dont_inherit=True, optimize=0)
    except SyntaxError as again:
        if (again.msg, again.lineno) == (error.msg, error.lineno):
            return again
    except Exception:
        pass
    return error


def main():
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    # Syntax trees have no cycles, and the process keeps nothing.
    gc.disable()

    def number(value):
        return min(max(value or 0, 0), 0xFFFFFFFF).to_bytes(4, "little")

    def string(value):
        return number(len(value)) + value

    def read_string():
        length = requests.read(4)
        if len(length) < 4:
            sys.exit(0)
        return requests.read(int.from_bytes(length, "little"))

    from _frozen_importlib_external import MAGIC_NUMBER

    answers.write(b"HOGNOSE1" + bytes(sys.version_info[:2]) + MAGIC_NUMBER[:2])
    answers.write(string(sys.implementation.name.encode()))
    answers.flush()
    while True:
        filename = read_string().decode("utf-8", "surrogateescape")
        source = read_string()
        try:
            code = compile(source, filename, "exec", dont_inherit=True, optimize=0)
            answer = bytes([COMPILED]) + string(marshal.dumps(code))
            del code
        except SyntaxError as error:
            error = located(source, filename, error)
            message = str(error.msg)
            encoding = "encoding problem" in message or "codec can't decode" in message or "Non-UTF-8" in message
            encoding = encoding or "unknown encoding" in message
            status = ENCODING_ERROR if encoding else SYNTAX_ERROR
            place = number(error.lineno) + number(error.offset)
            answer = bytes([status]) + place + string(message.encode("utf-8", "replace"))
        except BaseException as error:
            null = isinstance(error, ValueError) and "null bytes" in str(error)
            status = SYNTAX_ERROR if null else FAILED
            message = "%s: %s" % (type(error).__name__, error)
            answer = bytes([status]) + number(0) + number(0) + string(message.encode("utf-8", "replace"))
        answers.write(answer)
        answers.flush()


main()
