"""GPU data bigger than the GPU: the engine, and embedding tables.

    import holdall
    bag = holdall.EmbeddingBag.from_pretrained("items.safetensors", mode="sum", memory="2GiB")
    pooled = bag(indices, offsets)           # numpy on the host driver; torch tensors where torch is

    engine = holdall.Engine(memory="8GiB", policy="s3fifo")
    edges = engine.reserve(4_000_000_000, "uint32", name="edges", path="edges.bin")
    with engine.acquire(read=[edges[first:first + count]]):
        step(numpy.asarray(edges[first:first + count]))
"""
from holdall._core import (BackingError, ChunkPoisoned, DriverError, EmbeddingError, Error, InvalidAccess, Lease,
                           NoDevice, OutOfHostMemory, PolicyError, RangeDropped, WorkingSetTooLarge, WouldDeadlock)
from holdall.embedding import Embedding, EmbeddingBag
from holdall.engine import Array, Engine, Part

__all__ = ["Array", "BackingError", "ChunkPoisoned", "DriverError", "Embedding", "EmbeddingBag", "EmbeddingError",
           "Engine", "Error", "InvalidAccess", "Lease", "NoDevice", "OutOfHostMemory", "Part", "PolicyError",
           "RangeDropped", "WorkingSetTooLarge", "WouldDeadlock"]
