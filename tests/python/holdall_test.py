"""The Python package against torch on the CPU where there is torch, otherwise against float64 of numpy.

Exit status 77 (skipped) where there is no numpy.
"""
import os
import sys
import tempfile
import threading
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

import holdall


def engine(memory="64MiB", **options):
    return holdall.Engine(memory=memory, driver="host", **options)


def weights(rows=50, dim=7, seed=1):
    return numpy.random.default_rng(seed).standard_normal((rows, dim)).astype(numpy.float32)


def pooled(weight, indices, offsets, mode, include_last_offset=False, padding_idx=None, per_sample_weights=None):
    """What torch.nn.EmbeddingBag answers; without torch, by its documentation in float64."""
    if torch is not None:
        bag = torch.nn.EmbeddingBag.from_pretrained(torch.from_numpy(weight), mode=mode, padding_idx=padding_idx,
                                                    include_last_offset=include_last_offset)
        given = None if per_sample_weights is None else torch.from_numpy(per_sample_weights)
        return bag(torch.from_numpy(indices), torch.from_numpy(offsets), given).numpy()
    ends = offsets[1:] if include_last_offset else numpy.append(offsets[1:], len(indices))
    begins = offsets[:-1] if include_last_offset else offsets
    out = numpy.zeros((len(begins), weight.shape[1]))
    for b, (begin, end) in enumerate(zip(begins, ends)):
        which = [i for i in range(begin, end) if padding_idx is None or indices[i] != padding_idx]
        rows = weight[indices[which]].astype(numpy.float64)
        if per_sample_weights is not None:
            rows *= per_sample_weights[which][:, None]
        if len(rows) > 0:
            out[b] = {"sum": rows.sum, "mean": rows.mean, "max": rows.max}[mode](axis=0)
    return out


class EmbeddingIs(unittest.TestCase):
    def test_rows_of_any_shape_of_indices(self):
        weight = weights()
        table = holdall.Embedding(50, 7, _weight=weight, engine=engine())
        for shape in ((), (3,), (2, 5), (0,), (2, 3, 4)):
            for kind in (numpy.int64, numpy.int32):
                ids = numpy.random.default_rng(2).integers(0, 50, shape).astype(kind)
                numpy.testing.assert_array_equal(table(ids), weight[ids])
        numpy.testing.assert_array_equal(table([1, 2]), weight[[1, 2]])

    def test_a_table_over_several_devices_answers_as_over_one(self):
        weight = weights(rows=200_000, dim=16)
        table = holdall.Embedding(200_000, 16, _weight=weight, engine=engine(devices=3), memory="2MiB")
        ids = numpy.random.default_rng(3).integers(0, 200_000, 5_000)
        numpy.testing.assert_array_equal(table(ids), weight[ids])
        self.assertEqual(table.stats()["device_bytes"], 3 * 2**21)
        table.update(ids[:3], weight[:3])
        numpy.testing.assert_array_equal(table(ids[:3])[-1], weight[2])

    def test_an_unknown_index_is_an_error_with_the_table_and_the_count(self):
        table = holdall.Embedding(50, 7, _weight=weights(), engine=engine(), name="items")
        with self.assertRaisesRegex(holdall.EmbeddingError, "'items' was asked for 2 keys"):
            table(numpy.array([1, 50, -1]))
        numpy.testing.assert_array_equal(table([3]), weights()[[3]])
        lenient = holdall.Embedding(50, 7, _weight=weights(), engine=engine(), unknown="zeros")
        numpy.testing.assert_array_equal(lenient([50]), numpy.zeros((1, 7)))

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "max_norm"):
            holdall.Embedding(50, 7, max_norm=1.0)
        with self.assertRaisesRegex(ValueError, "50 rows, num_embeddings is 49"):
            holdall.Embedding(49, 7, _weight=weights(), engine=engine())
        with self.assertRaisesRegex(ValueError, "7 elements, embedding_dim is 8"):
            holdall.Embedding(50, 8, _weight=weights(), engine=engine())
        with self.assertRaisesRegex(ValueError, "padding_idx is 50"):
            holdall.Embedding(50, 7, 50, _weight=weights(), engine=engine())
        with self.assertRaisesRegex(ValueError, "gradients"):
            holdall.Embedding.from_pretrained(weights(), freeze=False)
        with self.assertRaisesRegex(TypeError, "whole numbers"):
            holdall.Embedding(50, 7, _weight=weights(), engine=engine())(numpy.array([1.5]))
        with self.assertRaisesRegex(holdall.EmbeddingError, "no type of rows"):
            holdall.Embedding(50, 7, _weight=weights(), engine=engine(), dtype="float8")

    def test_hashed_keys_updates_inserts_and_erasure(self):
        keys = numpy.array([10**15, -5, 7])
        rows = weights(3)
        table = holdall.Embedding(None, None, _weight=rows, keys=keys, hashed=True, capacity=4, engine=engine(),
                                  unknown="zeros")
        numpy.testing.assert_array_equal(table(keys[::-1]), rows[::-1])
        table.update(keys[:1], rows[2:])
        numpy.testing.assert_array_equal(table(keys[:1]), rows[2:])
        table.update([99], rows[1:2], insert=True)
        numpy.testing.assert_array_equal(table([99]), rows[1:2])
        with self.assertRaisesRegex(holdall.EmbeddingError, "no room for 1 new keys"):
            table.update([100], rows[:1], insert=True)
        table.erase([99])
        numpy.testing.assert_array_equal(table([99]), numpy.zeros((1, 7)))
        with self.assertRaisesRegex(ValueError, "do not go with"):
            table.update([1, 2], rows[:1])

    def test_files_and_versions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.npy")
            numpy.save(path, weights())
            table = holdall.Embedding.from_pretrained(path, engine=engine())
            self.assertEqual((table.num_embeddings, table.embedding_dim), (50, 7))
            numpy.testing.assert_array_equal(table([4]), weights()[[4]])
            numpy.save(path, weights(seed=2))
            table.load_version(path)
            numpy.testing.assert_array_equal(table([4]), weights(seed=2)[[4]])
            with open(path, "wb") as out:
                out.write(b"no table")
            with self.assertRaisesRegex(holdall.EmbeddingError, "t.npy"):
                table.load_version(path)
            numpy.testing.assert_array_equal(table([4]), weights(seed=2)[[4]])
            copy = os.path.join(folder, "copy.npy")
            table.save(copy)
            numpy.testing.assert_array_equal(numpy.load(copy), weights(seed=2))

    def test_budgets_and_types_of_rows(self):
        weight = weights(20_000, 64)
        for dtype, error in (("float32", 0), ("float16", 2e-3), ("bfloat16", 2e-2), ("int8", 3e-2)):
            table = holdall.Embedding(20_000, 64, _weight=weight, engine=engine(), memory="2MiB", dtype=dtype)
            ids = numpy.random.default_rng(3).integers(0, 20_000, 1000)
            self.assertLessEqual(abs(table(ids) - weight[ids]).max(), error)
            self.assertLessEqual(table.stats()["device_bytes"], 2 << 20)
            table.set_budget(0)
            self.assertLessEqual(abs(table(ids) - weight[ids]).max(), error)

    def test_rows_rounded_while_in_host_memory(self):
        weight = weights(30_000, 32)
        for cold, error in (("float16", 2e-3), ("int8", 2e-2)):
            table = holdall.Embedding(30_000, 32, _weight=weight, cold_dtype=cold, memory="2MiB", engine=engine())
            hot = 2 * 2**20 // 128
            numpy.testing.assert_array_equal(table(numpy.arange(hot)), weight[:hot])
            rest = table(numpy.arange(hot, 30_000))
            self.assertFalse(numpy.array_equal(rest, weight[hot:]))
            numpy.testing.assert_allclose(rest, weight[hot:], atol=error)

    def test_threads_share_a_table(self):
        weight = weights()
        table = holdall.Embedding(50, 7, _weight=weight, engine=engine())
        wrong = []

        def ask(seed):
            random = numpy.random.default_rng(seed)
            for _ in range(50):
                ids = random.integers(0, 50, 20)
                if (table(ids) != weight[ids]).any():
                    wrong.append(ids)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class EmbeddingBagIs(unittest.TestCase):
    def test_torchs_pooling(self):
        weight, random = weights(), numpy.random.default_rng(4)
        on = engine()
        for mode in ("sum", "mean", "max"):
            for include_last_offset in (False, True):
                for padding_idx in (None, 3, -1):
                    bag = holdall.EmbeddingBag(50, 7, mode=mode, _weight=weight, padding_idx=padding_idx,
                                               include_last_offset=include_last_offset, engine=on)
                    lengths = random.integers(0, 6, 20)
                    indices = random.integers(0, 50, lengths.sum())
                    indices[::4] = 3
                    indices[1::4] = 49
                    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
                    if not include_last_offset:
                        offsets = offsets[:-1]
                    expected = pooled(weight, indices, offsets, mode, include_last_offset,
                                      None if padding_idx is None else padding_idx % 50)
                    numpy.testing.assert_allclose(bag(indices, offsets), expected, rtol=1e-5, atol=1e-6)

    def test_weighted_sums(self):
        weight, random = weights(), numpy.random.default_rng(5)
        bag = holdall.EmbeddingBag.from_pretrained(weight, mode="sum", engine=engine())
        indices, factors = random.integers(0, 50, 30), random.standard_normal(30).astype(numpy.float32)
        offsets = numpy.array([0, 10, 10, 25])
        numpy.testing.assert_allclose(bag(indices, offsets, factors),
                                      pooled(weight, indices, offsets, "sum", per_sample_weights=factors),
                                      rtol=1e-5, atol=1e-6)

    def test_rows_of_indices_are_bags(self):
        weight = weights()
        bag = holdall.EmbeddingBag(50, 7, _weight=weight, engine=engine())
        indices = numpy.arange(12).reshape(3, 4)
        numpy.testing.assert_allclose(bag(indices), weight[:12].reshape(3, 4, 7).mean(axis=1), rtol=1e-5)

    def test_wrong_arguments_are_refused(self):
        bag = holdall.EmbeddingBag(50, 7, _weight=weights(), engine=engine())
        with self.assertRaisesRegex(ValueError, "need offsets"):
            bag([1, 2])
        with self.assertRaisesRegex(ValueError, "bags by themselves"):
            bag([[1, 2]], [0])
        with self.assertRaisesRegex(NotImplementedError, "mode 'sum'"):
            bag([1, 2], [0], [1.0, 2.0])
        with self.assertRaisesRegex(holdall.EmbeddingError, "offsets that decrease or pass the end"):
            bag([1, 2], [0, 3])
        with self.assertRaisesRegex(ValueError, "none of sum, mean and max"):
            holdall.EmbeddingBag(50, 7, mode="median")


class TensorsOfOthers(unittest.TestCase):
    def test_dlpack_goes_in(self):
        class Foreign:  # nothing but DLPack
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        weight = weights()
        table = holdall.Embedding(50, 7, _weight=Foreign(weight), engine=engine())
        numpy.testing.assert_array_equal(table(Foreign(numpy.array([4, 5]))), weight[[4, 5]])

    def test_a_buffer_comes_out_by_dlpack(self):
        buffer = holdall._core.Buffer(engine(), [2, 3])
        view = numpy.from_dlpack(buffer)
        self.assertEqual((view.shape, view.dtype, view.ctypes.data), ((2, 3), numpy.float32, buffer.address))
        self.assertEqual(buffer.__dlpack_device__(), (1, 0))
        address, shape, kind = holdall._core._read_capsule(numpy.arange(4).__dlpack__())
        self.assertEqual((shape, kind), ((4,), "<i8"))

    @unittest.skipIf(torch is None, "there is no torch")
    def test_torch_goes_in_and_comes_out(self):
        weight = torch.from_numpy(weights())
        table = holdall.Embedding(50, 7, _weight=weight, engine=engine())
        ids = torch.tensor([[1, 2], [3, 4]])
        self.assertTrue(torch.equal(table(ids), weight[ids]))


class EngineIs(unittest.TestCase):
    def test_arrays_bigger_than_memory(self):
        on = engine("8MiB", chunk="2MiB", policy="clock")
        numbers = on.reserve(8 << 20, "int32", name="numbers")  # 32 MiB
        self.assertEqual((len(numbers), numbers.nbytes, numbers.name), (8 << 20, 32 << 20, "numbers"))
        step = 1 << 19
        for first in range(0, len(numbers), step):
            part = numbers[first:first + step]
            with on.acquire(overwrite=[part]):
                numpy.asarray(part)[:] = numpy.arange(first, first + step)
        for first in range(0, len(numbers), step):
            on.prefetch(numbers[first:first + step])
            with on.acquire(read=[numbers[first:first + step]]):
                view = numpy.asarray(numbers[first:first + step])
                self.assertEqual((view[0], view[-1]), (first, first + step - 1))
                del view
        stats = on.stats()
        self.assertGreaterEqual(stats["evictions"], 24)
        self.assertEqual(stats["ranges"][0]["name"], "numbers")
        self.assertEqual(stats["devices"][0]["policy"], "clock")

    def test_files_are_read_in_place(self):
        with tempfile.NamedTemporaryFile() as file:
            numpy.arange(3 << 18, dtype="float64").tofile(file.name)
            on = engine()
            numbers = on.reserve((3 << 18) - 10, "float64", path=file.name, offset=80)
            with on.acquire(read=[numbers]) as lease:
                view = numpy.asarray(numbers)
                self.assertEqual((view[0], view[-1]), (10, (3 << 18) - 1))
                del view
                lease.release()

    def test_errors_arrive_with_their_messages(self):
        on = engine("4MiB", chunk="2MiB")
        numbers = on.reserve(4 << 20, "float32", name="big")
        with self.assertRaises(holdall.WorkingSetTooLarge) as caught:
            on.acquire(read=[numbers])
        self.assertIsInstance(caught.exception, holdall.Error)
        self.assertIn("16 MiB", str(caught.exception))
        with self.assertRaises(holdall.InvalidAccess):
            engine().acquire(read=[numbers])
        with self.assertRaisesRegex(holdall.PolicyError, "lru"):
            holdall.Engine(driver="host", policy="lruu")
        with self.assertRaisesRegex(ValueError, "step"):
            numbers[::2]
        with self.assertRaisesRegex(holdall.BackingError, "no/such"):
            on.reserve(10, path="/no/such")
        with self.assertRaises(AttributeError):
            numbers.__cuda_array_interface__

    def test_parts_outlive_the_names_of_engine_and_array(self):
        part = engine().reserve(100, "int64")[10:20]
        import gc
        gc.collect()
        self.assertEqual(part.__array_interface__["shape"], (10,))


if __name__ == "__main__":
    unittest.main()
