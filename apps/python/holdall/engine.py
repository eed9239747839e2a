"""The engine: data in ranges that are paged in under leases."""
from __future__ import annotations

import os

import numpy

from holdall import _core
from holdall._core import Array, Part


class Engine(_core.Engine):
    """Engine(memory=0, host_memory=0, policy="lru", driver="", devices=1, chunk="8MiB")

    Sizes are bytes, or text such as "8GiB"; 0 is a default that works. `driver`: "cuda", "host", or "" for the GPU if
    there is one. Arrays and leases keep their engine alive. Threads may share it.
    """

    def reserve(self, count: int, dtype: object = "float32", *, name: str = "range", chunk: int | str = 0,
                path: str | os.PathLike[str] | None = None, offset: int = 0) -> Array:
        """`count` elements, of zeros or of a file from byte `offset` on (which is only read).

        Touch them under a lease alone: `numpy.asarray(array[a:b])` on the host driver, `__cuda_array_interface__` on
        CUDA. Such views are not to be used once the lease has ended.
        """
        kind = numpy.dtype(dtype)
        if kind.hasobject or kind.itemsize == 0:
            raise TypeError(f"elements of type {kind} cannot be paged")
        return self._reserve(count, kind.str, kind.itemsize, name, chunk, None if path is None else os.fspath(path),
                             offset)
