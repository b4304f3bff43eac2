"""Executors call what is submitted where it is submitted."""

import _hognose
from builtins import _truth

FIRST_COMPLETED = "FIRST_COMPLETED"
FIRST_EXCEPTION = "FIRST_EXCEPTION"
ALL_COMPLETED = "ALL_COMPLETED"

TimeoutError = TimeoutError


class CancelledError(Exception):
    pass


class BrokenExecutor(RuntimeError):
    pass


class InvalidStateError(Exception):
    pass


class Future:
    def result(self, timeout=None):
        return self._result

    def exception(self, timeout=None):
        return self._exception

    def set_result(self, result):
        self._result = result

    def set_exception(self, exception):
        self._exception = exception

    def add_done_callback(self, fn):
        fn(self)

    def cancel(self):
        return _truth

    def cancelled(self):
        return _truth

    def running(self):
        return _truth

    def done(self):
        return _truth

    def set_running_or_notify_cancel(self):
        return _truth


class Executor:
    def submit(self, fn, /, *args, **kwargs):
        future = _hognose.instance(Future)
        future._result = fn(*args, **kwargs)
        return future

    def map(self, fn, *iterables, timeout=None, chunksize=1, buffersize=None):
        return map(fn, *iterables)

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        return None


class ThreadPoolExecutor(Executor):
    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), **ctxkwargs):
        if initializer is not None:
            initializer(*initargs)


class ProcessPoolExecutor(Executor):
    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        if initializer is not None:
            initializer(*initargs)


class InterpreterPoolExecutor(ThreadPoolExecutor):
    pass


def as_completed(fs, timeout=None):
    for future in fs:
        yield future


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    done = set(fs)
    return (done, done)
