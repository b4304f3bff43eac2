"""Tasks of `asyncio`: a coroutine runs where it is awaited or made a task.

Streams, transports, subprocesses and event loops are external.
"""

import _hognose
from builtins import _absent, _number, _real, _text, _truth

FIRST_COMPLETED = "FIRST_COMPLETED"
FIRST_EXCEPTION = "FIRST_EXCEPTION"
ALL_COMPLETED = "ALL_COMPLETED"

TimeoutError = TimeoutError


class CancelledError(BaseException):
    pass


class InvalidStateError(Exception):
    pass


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


class Future:
    def __init__(self, *, loop=None):
        pass

    def __await__(self):
        yield None
        return self._result

    __iter__ = __await__

    def result(self):
        return self._result

    def exception(self):
        return self._exception

    def set_result(self, result, /):
        self._result = result

    def set_exception(self, exception, /):
        self._exception = exception

    def add_done_callback(self, fn, /, *, context=None):
        fn(self)

    def remove_done_callback(self, fn, /):
        return _number

    def cancel(self, msg=None):
        return _truth

    def cancelled(self):
        return _truth

    def done(self):
        return _truth


class Task(Future):
    def __init__(self, coro, *, loop=None, name=None, context=None, eager_start=False):
        self._coro = coro

        async def complete():
            self._result = await coro

        complete().send(None)

    def get_coro(self):
        return self._coro

    def get_name(self):
        return _text

    def set_name(self, value, /):
        pass


def run(main, *, debug=None, loop_factory=None):
    return Task(main).result()


class Runner:
    def __init__(self, *, debug=None, loop_factory=None):
        pass

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        pass

    def run(self, coro, *, context=None):
        return Task(coro).result()

    def close(self):
        pass


def create_task(coro, **kwargs):
    return Task(coro)


def ensure_future(coro_or_future, *, loop=None):
    return Task(coro_or_future)


class TaskGroup:
    async def __aenter__(self):
        return self

    async def __aexit__(self, et, exc, tb):
        pass

    def create_task(self, coro, **kwargs):
        return Task(coro)


async def gather(first=_absent, second=_absent, third=_absent, /, *rest, return_exceptions=False):
    """The results of the first three keep their positions."""
    results = [await first, await second, await third]
    for awaitable in rest:
        _hognose.store(results, await awaitable)
    return results


async def wait(fs, *, timeout=None, return_when=ALL_COMPLETED):
    done = set()
    for awaitable in fs:
        await awaitable
        done.add(awaitable)
    return (done, done)


async def wait_for(fut, timeout):
    return await fut


async def shield(arg):
    return await arg


def as_completed(fs, *, timeout=None):
    for awaitable in fs:
        yield awaitable


async def to_thread(func, /, *args, **kwargs):
    return func(*args, **kwargs)


async def sleep(delay, result=None):
    return result


class Timeout:
    def __init__(self, when):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, exc_type, exc_val, exc_tb):
        return None

    def when(self):
        return _real

    def reschedule(self, when):
        pass

    def expired(self):
        return _truth


def timeout(delay):
    return Timeout(delay)


def timeout_at(when):
    return Timeout(when)


def iscoroutine(obj):
    return _truth


def iscoroutinefunction(func):
    return _truth


def isfuture(obj):
    return _truth


class Lock:
    async def __aenter__(self):
        return None

    async def __aexit__(self, exc_type, exc, tb):
        pass

    async def acquire(self):
        return _truth

    def release(self):
        pass

    def locked(self):
        return _truth


class Condition:
    def __init__(self, lock=None):
        pass

    async def __aenter__(self):
        return None

    async def __aexit__(self, exc_type, exc, tb):
        pass

    async def wait(self):
        return _truth

    async def wait_for(self, predicate):
        return predicate()

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass


class Semaphore:
    def __init__(self, value=1):
        pass

    async def __aenter__(self):
        return None

    async def __aexit__(self, exc_type, exc, tb):
        pass

    async def acquire(self):
        return _truth

    def release(self):
        pass

    def locked(self):
        return _truth


class BoundedSemaphore(Semaphore):
    pass


class Event:
    def is_set(self):
        return _truth

    def set(self):
        pass

    def clear(self):
        pass

    async def wait(self):
        return _truth


class Queue:
    maxsize = _number

    def __init__(self, maxsize=0):
        self._items = []

    async def put(self, item):
        self._items.append(item)

    def put_nowait(self, item):
        self._items.append(item)

    async def get(self):
        return _hognose.elements(self._items)

    def get_nowait(self):
        return _hognose.elements(self._items)

    async def join(self):
        pass

    def task_done(self):
        pass

    def qsize(self):
        return _number

    def empty(self):
        return _truth

    def full(self):
        return _truth


class PriorityQueue(Queue):
    pass


class LifoQueue(Queue):
    pass
