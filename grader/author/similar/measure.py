"""How well make similar finds copies: precision and recall on classes of which it is known (make_class.py).

    measure.py [--seeds 1 2 3] [--copydetect] [--least-precision 0.8 --least-recall 0.8]

Precision: of the pairs that are listed (compare.LISTED_SCORE), how many are copies. Recall: of the copies, how many are listed.
Average precision ranks all pairs and needs no threshold. --copydetect measures copydetect (PyPI) on the same classes."""
import argparse
import glob
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../course/similar")]
import compare  # noqa: E402
import make_class  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def classmates(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "class/*/*/*"))):
        who, lab, file = path.split(os.sep)[-3:]
        found.setdefault(who, {})[f"{lab}/{file}"] = read(path)
    return found


def own(folder):
    files = classmates(folder)
    skeletons = {name: [read(name)] for name in next(iter(files.values()))}
    pairs, _, _ = compare.compare(files, skeletons)
    return [((pair.one, pair.other), pair.score) for pair in pairs], compare.LISTED_SCORE


def copydetect(folder):
    """Its own defaults, file by file as it works; a pair's score is the mean over the files."""
    import numpy as np
    from copydetect import CodeFingerprint, compare_files
    files = classmates(folder)
    given = {}
    scores = {}
    people = sorted(files)
    for name in files[people[0]]:
        boilerplate = np.array(sorted(CodeFingerprint(name, 25, 1, language="cpp").hashes))
        given[name] = {who: CodeFingerprint(os.path.join(folder, "class", who, name), 25, 15, boilerplate=boilerplate,
                                            language="cpp") for who in people}
        for i, one in enumerate(people):
            for other in people[i + 1:]:
                _, (first, second), _ = compare_files(given[name][one], given[name][other])
                scores[one, other] = scores.get((one, other), 0) + max(first, second) / len(files[one])
    return sorted(scores.items(), key=lambda pair: -pair[1]), 0.33


def measure(pairs, threshold, truth):
    copies = {tuple(sorted((one["copy"], one["of"]))) for one in truth}
    hits = [tuple(sorted(pair)) in copies for pair, _ in pairs]
    listed = [hit for hit, (_, score) in zip(hits, pairs) if score >= threshold]
    average = sum(sum(hits[:i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit) / len(copies)
    return (sum(listed) / max(len(listed), 1), sum(listed) / len(copies), average,
            sum(hits[:len(copies)]) / len(copies), len(listed))


def main():
    parser = argparse.ArgumentParser(description="Precision and recall of make similar.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--copydetect", action="store_true")
    parser.add_argument("--least-precision", type=float, default=0)
    parser.add_argument("--least-recall", type=float, default=0)
    options = parser.parse_args()
    tools = [("own", own)] + ([("copydetect", copydetect)] if options.copydetect else [])
    print("tool        class  listed  precision  recall  average precision  in the top 20  CPU s")
    bad = False
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as folder:
            make_class.make(folder, 60, 20, seed)
            truth = json.loads(read(os.path.join(folder, "truth.json")))
            for name, tool in tools:
                start = time.process_time()
                precision, recall, average, top, listed = measure(*tool(folder), truth)
                print(f"{name:<11} {seed:5}  {listed:6}  {precision:9.2f}  {recall:6.2f}  {average:17.2f}  {top:13.2f}"
                      f"  {time.process_time() - start:5.1f}", flush=True)
                if name == "own":
                    bad = bad or precision < options.least_precision or recall < options.least_recall
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
