def bind(callback):
    def invoke(value):
        return callback(value)
    return invoke
class Guard:
    def __enter__(self):
        return source()
    def __exit__(self, kind, value, trace):
        audit(value)
        return False
def run(flag, left, right):
    primary = bind(left)
    fallback = bind(right)
    with Guard() as value:
        if flag:
            return primary(value)
        return fallback(value)


def total(rows, *, scale=1, **options):
    result = [row * scale for row in rows if row is not None]
    for index, (first, *rest) in enumerate(rows):
        if first in options and not rest:
            continue
        result[index] += options[first] if scale > 2 else -scale
        if index > 10:
            break
    else:
        result.extend({**options, "scale": scale})
    return f"{result!r:>{scale}} {rows} {scale:x}", result[1:2], print(*rows, sep="", **options)


def careful(path):
    try:
        handle = open(path, mode="rb", closefd=(True if path else False))
        try:
            return handle.read()
        finally:
            handle.close()
    except (OSError, ValueError) as problem:
        if problem.errno:
            raise RuntimeError(path) from problem
        raise
    except KeyError:
        pass
    else:
        assert path, "empty"
    finally:
        del path


def chatter(items):
    got = yield 1
    while got:
        got = yield from items
    return lambda: got


async def gather(manager, stream):
    async with manager as inner, manager:
        async for item in stream:
            await inner(item)
    return [x async for x in stream if await x]


def shape(subject):
    match subject:
        case {"kind": "a", **rest}:
            return rest
        case [first, *_, last] if first:
            return last
        case Guard(value=1) | int(2):
            return 2
    return (subject := 1)


class Child(Guard):
    field: int = 3

    def __enter__(self):
        nonlocal_value = super().__enter__()
        self.seen, self.other = nonlocal_value, self
        return [lambda: each for each in (self, nonlocal_value)]


from os import path as where, sep
import os.path


def wide(x):
    while x:
        x = x.a0(x.b0, x.c0)
        x = x.a1(x.b1, x.c1)
        x = x.a2(x.b2, x.c2)
        x = x.a3(x.b3, x.c3)
        x = x.a4(x.b4, x.c4)
        x = x.a5(x.b5, x.c5)
        x = x.a6(x.b6, x.c6)
        x = x.a7(x.b7, x.c7)
        x = x.a8(x.b8, x.c8)
        x = x.a9(x.b9, x.c9)
        x = x.a10(x.b10, x.c10)
        x = x.a11(x.b11, x.c11)
        x = x.a12(x.b12, x.c12)
        x = x.a13(x.b13, x.c13)
        x = x.a14(x.b14, x.c14)
        x = x.a15(x.b15, x.c15)
        x = x.a16(x.b16, x.c16)
        x = x.a17(x.b17, x.c17)
        x = x.a18(x.b18, x.c18)
        x = x.a19(x.b19, x.c19)
        x = x.a20(x.b20, x.c20)
        x = x.a21(x.b21, x.c21)
        x = x.a22(x.b22, x.c22)
        x = x.a23(x.b23, x.c23)
        x = x.a24(x.b24, x.c24)
        x = x.a25(x.b25, x.c25)
        x = x.a26(x.b26, x.c26)
        x = x.a27(x.b27, x.c27)
        x = x.a28(x.b28, x.c28)
        x = x.a29(x.b29, x.c29)
        x = x.a30(x.b30, x.c30)
        x = x.a31(x.b31, x.c31)
        x = x.a32(x.b32, x.c32)
        x = x.a33(x.b33, x.c33)
        x = x.a34(x.b34, x.c34)
        x = x.a35(x.b35, x.c35)
        x = x.a36(x.b36, x.c36)
        x = x.a37(x.b37, x.c37)
        x = x.a38(x.b38, x.c38)
        x = x.a39(x.b39, x.c39)
        x = x.a40(x.b40, x.c40)
        x = x.a41(x.b41, x.c41)
        x = x.a42(x.b42, x.c42)
        x = x.a43(x.b43, x.c43)
        x = x.a44(x.b44, x.c44)
        x = x.a45(x.b45, x.c45)
        x = x.a46(x.b46, x.c46)
        x = x.a47(x.b47, x.c47)
        x = x.a48(x.b48, x.c48)
        x = x.a49(x.b49, x.c49)
        x = x.a50(x.b50, x.c50)
        x = x.a51(x.b51, x.c51)
        x = x.a52(x.b52, x.c52)
        x = x.a53(x.b53, x.c53)
        x = x.a54(x.b54, x.c54)
        x = x.a55(x.b55, x.c55)
        x = x.a56(x.b56, x.c56)
        x = x.a57(x.b57, x.c57)
        x = x.a58(x.b58, x.c58)
        x = x.a59(x.b59, x.c59)
        x = x.a60(x.b60, x.c60)
        x = x.a61(x.b61, x.c61)
        x = x.a62(x.b62, x.c62)
        x = x.a63(x.b63, x.c63)
        x = x.a64(x.b64, x.c64)
        x = x.a65(x.b65, x.c65)
        x = x.a66(x.b66, x.c66)
        x = x.a67(x.b67, x.c67)
        x = x.a68(x.b68, x.c68)
        x = x.a69(x.b69, x.c69)
