"""What `contextlib` does: generators as context managers, and stacks of them."""

import _hognose
from abc import ABC as _ABC
from builtins import _truth


class AbstractContextManager(_ABC):
    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None


class AbstractAsyncContextManager(_ABC):
    async def __aenter__(self):
        return self

    async def __aexit__(self, exc_type, exc_value, traceback):
        return None


class ContextDecorator:
    def __call__(self, func):
        def inner(*args, **kwds):
            with self:
                return func(*args, **kwds)

        return inner


class AsyncContextDecorator:
    def __call__(self, func):
        async def inner(*args, **kwds):
            async with self:
                return await func(*args, **kwds)

        return inner


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    """The body of the `with` statement runs where the generator waits: what it raises is raised there."""

    def __init__(self, generator):
        self.gen = generator

    def __enter__(self):
        return next(self.gen)

    def __exit__(self, typ, value, traceback):
        _hognose.throw(self.gen, value)
        return _truth


class _AsyncGeneratorContextManager(AsyncContextDecorator, AbstractAsyncContextManager):
    def __init__(self, generator):
        self.gen = generator

    async def __aenter__(self):
        return next(self.gen)

    async def __aexit__(self, typ, value, traceback):
        _hognose.throw(self.gen, value)
        return _truth


def contextmanager(func):
    def helper(*args, **kwds):
        return _GeneratorContextManager(func(*args, **kwds))

    helper.__wrapped__ = func
    return helper


def asynccontextmanager(func):
    def helper(*args, **kwds):
        return _AsyncGeneratorContextManager(func(*args, **kwds))

    helper.__wrapped__ = func
    return helper


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc_info):
        self.thing.close()


class aclosing(AbstractAsyncContextManager):
    def __init__(self, thing):
        self.thing = thing

    async def __aenter__(self):
        return self.thing

    async def __aexit__(self, *exc_info):
        await self.thing.aclose()


class nullcontext(AbstractContextManager, AbstractAsyncContextManager):
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *excinfo):
        pass

    async def __aenter__(self):
        return self.enter_result

    async def __aexit__(self, *excinfo):
        pass


class suppress(AbstractContextManager):
    def __init__(self, *exceptions):
        pass

    def __enter__(self):
        pass

    def __exit__(self, exctype, excinst, exctb):
        return _truth


class redirect_stdout(AbstractContextManager):
    def __init__(self, new_target):
        self._new_target = new_target

    def __enter__(self):
        return self._new_target

    def __exit__(self, exctype, excinst, exctb):
        pass


class redirect_stderr(AbstractContextManager):
    def __init__(self, new_target):
        self._new_target = new_target

    def __enter__(self):
        return self._new_target

    def __exit__(self, exctype, excinst, exctb):
        pass


class chdir(AbstractContextManager):
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        pass

    def __exit__(self, *excinfo):
        pass


class _BaseExitStack:
    """Callbacks are kept as functions that take what `__exit__` takes."""

    def __init__(self):
        self._exit_callbacks = []

    def pop_all(self):
        return self

    def enter_context(self, cm):
        self.push(cm)
        return cm.__enter__()

    def push(self, exit):
        def leave(typ, value, traceback):
            exit.__exit__(typ, value, traceback)
            exit(typ, value, traceback)

        _hognose.store(self._exit_callbacks, leave)
        return exit

    def callback(self, callback, /, *args, **kwds):
        def leave(typ, value, traceback):
            callback(*args, **kwds)

        _hognose.store(self._exit_callbacks, leave)
        return callback


class ExitStack(_BaseExitStack, AbstractContextManager):
    def __enter__(self):
        return self

    def __exit__(self, *exc_details):
        _hognose.elements(self._exit_callbacks)(*exc_details)
        return _truth

    def close(self):
        _hognose.elements(self._exit_callbacks)(None, None, None)


class AsyncExitStack(_BaseExitStack, AbstractAsyncContextManager):
    async def enter_async_context(self, cm):
        self.push_async_exit(cm)
        return await cm.__aenter__()

    def push_async_exit(self, exit):
        async def leave(typ, value, traceback):
            await exit.__aexit__(typ, value, traceback)
            await exit(typ, value, traceback)

        _hognose.store(self._exit_callbacks, leave)
        return exit

    def push_async_callback(self, callback, /, *args, **kwds):
        async def leave(typ, value, traceback):
            await callback(*args, **kwds)

        _hognose.store(self._exit_callbacks, leave)
        return callback

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc_details):
        await _hognose.elements(self._exit_callbacks)(*exc_details)
        return _truth

    async def aclose(self):
        await _hognose.elements(self._exit_callbacks)(None, None, None)
