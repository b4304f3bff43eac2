"""Threads run their target where they are started."""

import _hognose
from builtins import _number, _real, _text, _truth


class Thread:
    name = _text
    daemon = _truth
    ident = _number
    native_id = _number

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None, context=None):
        self._target = target
        self._args = args
        self._kwargs = kwargs

    def start(self):
        self.run()

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout=None):
        pass

    def is_alive(self):
        return _truth


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        self.interval = interval
        self.function = function
        self.args = args
        self.kwargs = kwargs

    def run(self):
        self.function(*self.args, **self.kwargs)

    def cancel(self):
        pass


class Lock:
    def __enter__(self):
        return _truth

    def __exit__(self, *args):
        pass

    def acquire(self, blocking=True, timeout=-1):
        return _truth

    def release(self):
        pass

    def locked(self):
        return _truth


def RLock(*args, **kwargs):
    return Lock()


class Condition:
    def __init__(self, lock=None):
        pass

    def __enter__(self):
        return _truth

    def __exit__(self, *args):
        pass

    def acquire(self, *args, **kwargs):
        return _truth

    def release(self):
        pass

    def wait(self, timeout=None):
        return _truth

    def wait_for(self, predicate, timeout=None):
        return predicate()

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass


class Semaphore:
    def __init__(self, value=1):
        pass

    def __enter__(self, blocking=True, timeout=None):
        return _truth

    def __exit__(self, t, v, tb):
        pass

    def acquire(self, blocking=True, timeout=None):
        return _truth

    def release(self, n=1):
        pass


class BoundedSemaphore(Semaphore):
    pass


class Event:
    def is_set(self):
        return _truth

    def set(self):
        pass

    def clear(self):
        pass

    def wait(self, timeout=None):
        return _truth


class Barrier:
    parties = _number
    n_waiting = _number
    broken = _truth

    def __init__(self, parties, action=None, timeout=None):
        self._action = action

    def wait(self, timeout=None):
        if self._action is not None:
            self._action()
        return _number

    def reset(self):
        pass

    def abort(self):
        pass


class BrokenBarrierError(RuntimeError):
    pass


class local:
    pass


_main_thread = Thread()


def current_thread():
    return _main_thread


def main_thread():
    return _main_thread


def active_count():
    return _number


def enumerate():
    return [_main_thread]


def get_ident():
    return _number


def get_native_id():
    return _number


def settrace(func):
    _hognose.callback(func)


def setprofile(func):
    _hognose.callback(func)


TIMEOUT_MAX = _real
