"""Embedding tables bigger than the GPU, with torch's argument names."""
from __future__ import annotations

import os
from typing import Any, Sequence

import numpy

from holdall import _core
from holdall._tensors import Tensors
from holdall.engine import Engine


def _bytes(size: int | str) -> int:
    if not isinstance(size, str):
        return size
    units = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    number = size.rstrip("BKMGTi ")
    try:
        return int(float(number) * units[size[len(number):].strip()])
    except (KeyError, ValueError):
        raise ValueError(f"'{size}' is no size such as 512MiB or 2GiB") from None


class _Table:
    """What both kinds share: the table, its changes and versions."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def __init__(self, num_embeddings: int | None, embedding_dim: int | None, padding_idx: int | None,
                 max_norm: float | None, scale_grad_by_freq: bool, sparse: bool, _weight: Any,
                 engine: Engine | None, memory: int | str | None, dtype: str, cold_dtype: str | None,
                 keys: Any, hashed: bool, capacity: int, unknown: str, frequencies: Sequence[int] | None, learn: bool,
                 name: str, tensor: str):
        if max_norm is not None:
            raise ValueError("max_norm changes rows as they are read; renormalise them before they are served")
        if scale_grad_by_freq or sparse:
            raise ValueError("scale_grad_by_freq and sparse are of gradients, and there are none here")
        self.engine = Engine() if engine is None else engine
        common = dict(name=name, type=dtype, cold_type=cold_dtype or "",
                      memory=2**64 - 1 if memory is None else _bytes(memory), hashed=hashed, capacity=capacity,
                      unknown=unknown, learn=learn,
                      frequencies=[] if frequencies is None else [int(count) for count in frequencies])
        if isinstance(_weight, (str, os.PathLike)):
            self._table = _core.Table(self.engine, os.fspath(_weight), dim=embedding_dim or 0, tensor=tensor, **common)
            rows = self._table.stats()["rows"]
        else:
            if _weight is None:
                _weight = numpy.random.default_rng().standard_normal((num_embeddings, embedding_dim), numpy.float32)
                if padding_idx is not None:
                    _weight[padding_idx] = 0
            weight = _host_array(_weight)
            if weight.ndim != 2:
                raise ValueError(f"the weight has {weight.ndim} dimensions; it is to have 2")
            if weight.dtype not in (numpy.float32, numpy.float16):
                weight = weight.astype(numpy.float32)
            weight = numpy.ascontiguousarray(weight)
            ids = None if keys is None else numpy.ascontiguousarray(_host_array(keys), dtype=numpy.int64)
            if ids is not None and ids.shape != weight.shape[:1]:
                raise ValueError(f"there are {ids.shape} keys for {weight.shape[0]} rows")
            rows = weight.shape[0]
            self._table = _core.Table(self.engine, weight.ctypes.data, rows, weight.shape[1], str(weight.dtype),
                                      0 if ids is None else ids.ctypes.data, **common)
        if num_embeddings is not None and rows != num_embeddings:
            raise ValueError(f"the weight has {rows} rows, num_embeddings is {num_embeddings}")
        if embedding_dim is not None and self._table.dim != embedding_dim:
            raise ValueError(f"rows have {self._table.dim} elements, embedding_dim is {embedding_dim}")
        self.num_embeddings = rows
        self.embedding_dim = self._table.dim
        self._unknown = unknown
        self.padding_idx = padding_idx
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise ValueError(f"padding_idx is {padding_idx}; it is to be within the {rows} rows")
            self.padding_idx = padding_idx % rows

    def update(self, keys: Any, rows: Any, *, insert: bool = False) -> None:
        """Writes rows [n, embedding_dim] of keys [n]; with `insert` also of new keys, while there is capacity."""
        tensors = Tensors(self.engine)
        ids, shape = tensors.take(keys, "int64", "keys")
        data, given = tensors.take(rows, "float32", "rows")
        if len(shape) != 1 or given != (shape[0], self.embedding_dim):
            raise ValueError(f"rows of shape {given} do not go with keys of shape {shape} and rows of "
                             f"{self.embedding_dim}")
        self._table.update(ids, shape[0], data, insert, tensors.stream)
        tensors.done()
        if insert:
            self._table.check(tensors.stream)

    def erase(self, keys: Any) -> None:
        tensors = Tensors(self.engine)
        ids, shape = tensors.take(keys, "int64", "keys")
        self._table.erase(ids, _count(shape), tensors.stream)
        tensors.done()

    def prefetch(self, keys: Any) -> None:
        """Counts keys as asked for, so that learning moves them up."""
        tensors = Tensors(self.engine)
        ids, shape = tensors.take(keys, "int64", "keys")
        self._table.prefetch(ids, _count(shape), tensors.stream)
        tensors.done()

    def load_version(self, path: str | os.PathLike[str]) -> None:
        """Reads a new version beside the old and swaps; calls in other threads go on. On an error the old one stays."""
        self._table.load_version(os.fspath(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes NAME.safetensors or NAME.npy."""
        self._table.save(os.fspath(path))

    def set_budget(self, memory: int | str) -> float:
        """Memory of each device for rows from now on; answers the hit rate that is expected."""
        return self._table.set_budget(_bytes(memory))

    def learn(self) -> int:
        """One step of learning; answers how many rows it moved."""
        return self._table.learn()

    def check(self, stream: int = 0) -> None:
        """Waits, and raises EmbeddingError if calls since the last one had unknown keys or bad offsets."""
        self._table.check(stream)

    def stats(self) -> dict[str, Any]:
        return self._table.stats()

    def _checked(self, tensors: Tensors) -> None:
        tensors.done()
        if tensors.stream == 0:
            self._table.check(0)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _host_array(value: Any) -> numpy.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "__dlpack__") and not isinstance(value, numpy.ndarray):
        value = numpy.from_dlpack(value)
    return numpy.asarray(value)


class Embedding(_Table):
    """Rows by index, as torch.nn.Embedding has them, for reading.

    Beyond torch's arguments: `engine` (one of its own otherwise), `memory` of each device for rows, `dtype` of the
    rows as stored ("float32", "float16", "bfloat16", "int8"), `cold_dtype` of those in host memory, a narrower one
    to which they are rounded, `keys` of the rows and `hashed` where these are any numbers, `capacity` for more rows,
    `unknown` keys are "error" or "zeros", `frequencies` of the rows or `learn` them. `_weight` is an array, or a path
    that `holdall embed inspect` reads.
    """

    def __init__(self, num_embeddings: int | None, embedding_dim: int | None, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: Any = None, *, engine: Engine | None = None,
                 memory: int | str | None = None, dtype: str = "float32", cold_dtype: str | None = None,
                 keys: Any = None, hashed: bool = False, capacity: int = 0, unknown: str = "error",
                 frequencies: Sequence[int] | None = None, learn: bool = False, name: str = "table", tensor: str = ""):
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, scale_grad_by_freq, sparse, _weight,
                         engine, memory, dtype, cold_dtype, keys, hashed, capacity, unknown, frequencies, learn, name,
                         tensor)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None,
                        **options: Any) -> Embedding:
        if not freeze:
            raise ValueError("freeze=False asks for gradients, and there are none here")
        return cls(None, None, padding_idx, _weight=embeddings, **options)

    def forward(self, input: Any) -> Any:
        """[..] indices to [.., embedding_dim] float32."""
        tensors = Tensors(self.engine)
        ids, shape = tensors.take(input, "int64", "indices")
        out, rows = tensors.make((*shape, self.embedding_dim))
        if _count(shape) > 0:
            self._table.lookup(ids, _count(shape), out, 0, tensors.stream)
            self._checked(tensors)
        return rows

    __call__ = forward


class EmbeddingBag(_Table):
    """Bags of rows, pooled as torch.nn.EmbeddingBag does, for reading. Further arguments are Embedding's."""

    def __init__(self, num_embeddings: int | None, embedding_dim: int | None, max_norm: float | None = None,
                 norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                 _weight: Any = None, include_last_offset: bool = False, padding_idx: int | None = None, *,
                 engine: Engine | None = None, memory: int | str | None = None, dtype: str = "float32",
                 cold_dtype: str | None = None, keys: Any = None, hashed: bool = False, capacity: int = 0,
                 unknown: str = "error", frequencies: Sequence[int] | None = None, learn: bool = False,
                 name: str = "table", tensor: str = ""):
        if mode not in ("sum", "mean", "max"):
            raise ValueError(f"mode '{mode}' is none of sum, mean and max")
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, scale_grad_by_freq, sparse, _weight,
                         engine, memory, dtype, cold_dtype, keys, hashed, capacity, unknown, frequencies, learn, name,
                         tensor)
        self.mode = mode
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, max_norm: float | None = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
                        sparse: bool = False, include_last_offset: bool = False, padding_idx: int | None = None,
                        **options: Any) -> EmbeddingBag:
        if not freeze:
            raise ValueError("freeze=False asks for gradients, and there are none here")
        return cls(None, None, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset,
                   padding_idx, **options)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Indices [n] and offsets [bags], or indices [bags, n] alone, to [bags, embedding_dim] float32."""
        tensors = Tensors(self.engine)
        ids, shape = tensors.take(input, "int64", "indices")
        include_last = self.include_last_offset
        if len(shape) == 2:
            if offsets is not None:
                raise ValueError("offsets are for indices of one dimension; rows of two are bags by themselves")
            bags, include_last = shape[0], False
            begins = numpy.arange(bags, dtype=numpy.int64) * shape[1]
            at, _ = tensors.take(begins if tensors.on_host else self._on_device(begins, input), "int64", "offsets")
        elif len(shape) == 1:
            if offsets is None:
                raise ValueError("indices of one dimension need offsets")
            at, of = tensors.take(offsets, "int64", "offsets")
            if len(of) != 1 or (include_last and of[0] == 0):
                raise ValueError(f"offsets of shape {of} are no list" +
                                 (" with its last" if include_last else ""))
            bags = of[0] - 1 if include_last else of[0]
        else:
            raise ValueError(f"indices have {len(shape)} dimensions; they are to have 1 or 2")
        weights = 0
        if per_sample_weights is not None:
            if self.mode != "sum":
                raise NotImplementedError(f"per_sample_weights are for mode 'sum', not '{self.mode}'")
            weights, given = tensors.take(per_sample_weights, "float32", "per_sample_weights")
            if given != shape:
                raise ValueError(f"per_sample_weights of shape {given} do not go with indices of shape {shape}")
        out, pooled = tensors.make((bags, self.embedding_dim))
        if bags > 0:
            self._table.bag(ids, _count(shape), at, bags, include_last, self.mode, weights,
                            -1 if self.padding_idx is None else self.padding_idx, out, tensors.stream)
            self._checked(tensors)
        return pooled

    __call__ = forward

    @staticmethod
    def _on_device(begins: numpy.ndarray, like: Any) -> Any:
        if not hasattr(like, "new_tensor"):
            raise ValueError("on a GPU, indices of two dimensions are torch's; give indices and offsets")
        return like.new_tensor(begins)
