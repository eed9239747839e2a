"""Tensors of others as addresses: numpy, torch, and whatever speaks DLPack or __cuda_array_interface__."""
from __future__ import annotations

import sys
from typing import Any, Sequence

import numpy

from holdall import _core


class Tensors:
    """Takes inputs and makes outputs for one call, on one engine. `stream` is the caller's, if it has one."""

    def __init__(self, engine: _core.Engine):
        self.engine = engine
        self.on_host = engine.driver == "host"
        self.stream = 0
        self.own = True  # a stream of the engine's, which is waited for
        self.torch_device: Any = None
        self.kept: list[Any] = []  # alive until the call is done

    def take(self, value: Any, dtype: str, what: str) -> tuple[int, tuple[int, ...]]:
        """The address and shape of a dense array of that type; converted, if need be, on the host driver alone."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            value = value.detach()
            self.torch_device = value.device
            if not self.on_host and value.is_cuda:
                value = value.to(getattr(torch, dtype)).contiguous()
                self.stream = torch.cuda.current_stream(value.device).cuda_stream
                self.own = self.stream == 0
                if self.own:
                    self.stream = self.engine._own_stream(value.device.index or 0)
                self.kept.append(value)
                return value.data_ptr(), tuple(value.shape)
        if self.on_host:
            return self._take_host(value, dtype, what)
        return self._take_device(value, dtype, what)

    def _take_host(self, value: Any, dtype: str, what: str) -> tuple[int, tuple[int, ...]]:
        if hasattr(value, "__dlpack__") and not isinstance(value, numpy.ndarray):
            value = numpy.from_dlpack(value)
        array = numpy.asarray(value)
        whole = numpy.issubdtype(numpy.dtype(dtype), numpy.integer)
        if array.size > 0 and whole and not numpy.issubdtype(array.dtype, numpy.integer):
            raise TypeError(f"{what} are {array.dtype}; they are to be whole numbers")
        array = numpy.ascontiguousarray(array, dtype=dtype).reshape(array.shape)
        self.kept.append(array)
        return array.ctypes.data, array.shape

    def _take_device(self, value: Any, dtype: str, what: str) -> tuple[int, tuple[int, ...]]:
        wanted = numpy.dtype(dtype).str
        if hasattr(value, "__cuda_array_interface__"):
            given = value.__cuda_array_interface__
            address, shape, typestr = given["data"][0], tuple(given["shape"]), given["typestr"]
            if given.get("strides") is not None:
                raise ValueError(f"{what} are not contiguous")
        elif hasattr(value, "__dlpack__"):
            if value.__dlpack_device__()[0] != 2:
                raise ValueError(f"{what} are not in the memory of a GPU, where this engine is")
            if value.__dlpack_device__()[1] != 0:
                raise ValueError(f"{what} are in the memory of GPU {value.__dlpack_device__()[1]}; give torch's "
                                 "tensors, or such of GPU 0")
            capsule = value.__dlpack__()
            address, shape, typestr = _core._read_capsule(capsule)
            self.kept.append(capsule)
        else:
            raise TypeError(f"{what} have neither __cuda_array_interface__ nor __dlpack__, and this engine is on a GPU")
        if typestr != wanted:
            raise TypeError(f"{what} are of type {typestr}; on a GPU they are to be {wanted}")
        self.kept.append(value)
        return address, shape

    def make(self, shape: Sequence[int]) -> tuple[int, Any]:
        """The address of a float32 array, and the array: of the inputs' library where that can be."""
        torch = sys.modules.get("torch") if self.torch_device is not None else None
        if torch is not None and (self.on_host or self.torch_device.type == "cuda"):
            tensor = torch.empty(tuple(shape), dtype=torch.float32, device="cpu" if self.on_host else self.torch_device)
            return tensor.data_ptr(), tensor
        if self.on_host:
            array = numpy.empty(shape, dtype=numpy.float32)
            return array.ctypes.data, array
        buffer = _core.Buffer(self.engine, list(shape))
        return buffer.address, buffer

    def done(self) -> None:
        """Waits, unless the inputs' owner orders its memory by the stream itself, as torch does."""
        if self.own:
            self.engine.synchronize(self.stream)
