#!/usr/bin/env python3
"""What grader/plots says of sweeps: of recorded curves and of awkward ones, sentences and tables. Run by sweep_test.sh."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plots"))
import sentences as S  # noqa: E402
import sweep_tables as T  # noqa: E402


def point(experiment, n, x, ms, **more):
    record = {"lab": 2, "experiment": experiment, "variant": "only", "math": "int32", "n": n, "x": x, "status": "measured", "threads": 256,
              "blocks": 4096, "registers": 40, "local_bytes": 0, "resident_blocks": 4, "occupancy": 0.5}
    return record | ({"ms": ms, "ms_interval": [ms * 0.99, ms * 1.01]} if ms else {"status": "wrong"}) | more


def curve(experiment, n, xs, times):
    return [point(experiment, n, x, ms) for x, ms in zip(xs, times, strict=True)]


def register_tile(n=1024):
    """The register tile of the first course report (n = 1024), with resources as such a kernel has."""
    points = curve("register tile", n, [1, 2, 4, 8, 16, 32, 64], [3.28, 2.27, 2.11, 2.08, 7.37, 25.8, 83.6])
    for p, registers, local in zip(points, [24, 32, 48, 128, 255, 255, 255], [0, 0, 0, 0, 640, 4096, 16384]):
        p.update(registers=registers, local_bytes=local, occupancy=0.125 if registers > 200 else 0.25 if registers > 100 else 1)
    return points


def sweep(records):
    return {"machine": {"multiprocessors": "132"}, "records": records}


class Sentences(unittest.TestCase):
    def test_minimum_and_turn(self):
        """The minimum of a recorded curve, and what turns there."""
        self.assertEqual(S.minimum_sentence(register_tile()),
                         "With n = 1024 the minimum lies at TILE 4 to 8, too close to tell apart: 2.08 ms at 1024.")
        self.assertEqual(S.turn_sentence(register_tile(), 132),
                         "At n = 1024, from TILE 1 to 8 the time falls to 63 %: occupancy 100 -> 25 %; registers 24 -> 128. At n = 1024, from TILE 8 "
                         "to 16 it rises to 354 %: local memory 0 -> 640 bytes per thread; occupancy 25 -> 12.5 %; registers 128 -> 255.")

    def test_sizes_together(self):
        """Sizes of which the same is said are named together: the naive kernel of the fifth report."""
        xs = [1, 2, 4, 8, 16, 32]
        points = (curve("side", 256, xs, [565, 136, 54.9, 31.7, 26.7, 23.9]) + curve("side", 512, xs, [4440, 1137, 441, 235, 158, 177])
                  + curve("side", 1024, xs, [35.4, 9.01, 3.43, 1.77, 1.23, 1.13]))
        for p in points:
            p["threads"] = p["x"] ** 2
        said = S.minimum_sentence(points)
        self.assertIn("With n = 256, 1024 the minimum lies at side 32, the end of the sweep: 1.13 ms at 1024.", said)
        self.assertIn("With n = 512 the minimum lies at side 16: 158 ms at 512.", said)
        self.assertIn("lanes at work in a warp 1 -> 32", S.turn_sentence(points, 132))

    def test_flat(self):
        points = curve("carve-out", 512, [0, 25, 50], [1.00, 1.01, 1.02])
        self.assertEqual(S.minimum_sentence(points), "With n = 512 the curve is flat: all times lie within 2 %.")
        self.assertEqual(S.turn_sentence(points, 132), "Nothing turns: no choice makes a difference of more than 3 %.")

    def test_minimum_at_the_first_point(self):
        """Nothing before it, the rise is explained."""
        points = curve("padding", 512, [0, 1, 2], [1, 2, 4])
        points[0]["wavefronts"], points[1]["wavefronts"] = 1, 8
        self.assertIn("at padding 0, the end of the sweep", S.minimum_sentence(points))
        turn = S.turn_sentence(points, 132)
        self.assertIn("from padding 0 to 1 it rises to 200 %: wavefronts per shared request 1 -> 8", turn)
        self.assertNotIn("falls", turn)

    def test_minimum_at_the_last_point(self):
        points = curve("side", 512, [1, 2, 4], [4, 2, 1])
        self.assertIn("at side 4, the end of the sweep", S.minimum_sentence(points))
        turn = S.turn_sentence(points, 132)
        self.assertIn("from side 1 to 4 the time falls to 25 %", turn)
        self.assertNotIn("rises", turn)

    def test_no_reason_is_made_up(self):
        points = curve("side", 512, [1, 2], [2, 1])
        self.assertIn("registers, spills and occupancy are the same, so it is how memory is accessed", S.turn_sentence(points, 132))
        for p in points:
            p["wavefronts"] = 4
        self.assertIn("registers, spills, occupancy and wavefronts are the same, so none of them is the reason", S.turn_sentence(points, 132))

    def test_what_is_swept_is_a_reason(self):
        self.assertIn("from stages 2 to 4 the time falls to 33 %: tiles on their way while one is multiplied 1 -> 3.",
                      S.turn_sentence(curve("stages", 512, [2, 3, 4], [3, 2, 1]), 132))
        points = [point("tile shape", 4096, 0, 2, blocks=4096, label="64 x 64"), point("tile shape", 4096, 1, 1, blocks=512, label="128 x 256")]
        self.assertEqual(S.turn_sentence(points, 132),
                         "At n = 4096 128 x 256 takes 50 % of the time of 64 x 64: elements of C per block 4096 -> 32768.")

    def test_missing_points_are_not_zeros(self):
        points = curve("side", 512, [1, 2, 4, 8], [4, None, 1, 2])
        self.assertIn("at side 4: 1 ms", S.minimum_sentence(points))
        self.assertIn("from side 1 to 4", S.turn_sentence(points, 132))

    def test_too_few_points(self):
        points = curve("side", 512, [1, 2], [1, None])
        self.assertEqual(S.minimum_sentence(points), "With n = 512 there are too few times for a minimum.")
        self.assertEqual(S.turn_sentence(points, 132), "")
        self.assertEqual(S.minimum_sentence([]), "")
        self.assertEqual(S.sentences(sweep(curve("side", 512, [1, 2], [None, None]))), [])

    def test_two_minima(self):
        """The lower one, and its own neighbours."""
        points = curve("side", 512, [1, 2, 4, 8, 16], [2, 1, 3, 0.9, 3])
        self.assertIn("at side 8: 0.9 ms", S.minimum_sentence(points))
        self.assertIn("from side 4 to 8 the time falls to 30 %", S.turn_sentence(points, 132))

    def test_order_does_not_matter(self):
        backwards = register_tile()[::-1]
        self.assertEqual(S.minimum_sentence(backwards), S.minimum_sentence(register_tile()))
        self.assertEqual(S.turn_sentence(backwards, 132), S.turn_sentence(register_tile(), 132))

    def test_choices_have_no_end_and_no_direction(self):
        points = [point("packing", 1024, x, ms, label=label) for x, ms, label in ((0, 2, "none"), (1, 1, "A"), (2, 3, "B"))]
        self.assertEqual(S.minimum_sentence(points), "With n = 1024 the minimum lies at packed A: 1 ms at 1024.")
        self.assertIn("At n = 1024 A takes 33 % of the time of B:", S.turn_sentence(points, 132))

    def test_which_tile_wins_at_which_size(self):
        points = [point("size", n, n, ms, variant=variant, blocks=blocks)
                  for variant, n, ms, blocks in (("small", 256, 1, 64), ("large", 256, 3, 4), ("small", 512, 5, 256), ("large", 512, 4.95, 16),
                                                 ("small", 1024, 9, 1024), ("large", 1024, 6, 64))]  # at 512 within what is called the same
        (said,) = S.sentences(sweep(points))
        self.assertEqual(said["minimum"], "The fastest tile: small from n = 256 to 512; large at n = 1024.")
        self.assertEqual(said["turn"], "At n = 1024, small -> large (67 % of the time): blocks 1024 -> 64 for 132 multiprocessors.")


class Tables(unittest.TestCase):
    def lines(self, wavefronts=0):
        points = register_tile()
        for n in (2048, 4096, 8192, 16384):
            points += [p | {"n": n, "ms": p["ms"] * n, "naive_ms": 123456.789, "cublas_ms": 0.00123, "local_bytes": 123456} for p in register_tile(n)]
        return T.tables(sweep([p | {"wavefronts": wavefronts} for p in points]))

    def test_width(self):
        self.assertLessEqual(max(map(len, self.lines())), 80)
        self.assertLessEqual(max(map(len, self.lines(wavefronts=32))), 80)

    def test_each_minimum_is_marked(self):
        self.assertEqual([line.count("*") for line in self.lines() if line.startswith("8 ")], [5])

    def test_wrong_is_said(self):
        points = register_tile()
        points[0] = point("register tile", 1024, 1, None)
        self.assertTrue(any(line.startswith("1 ") and "wrong" in line for line in T.tables(sweep(points))))


if __name__ == "__main__":
    unittest.main()
