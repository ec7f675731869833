"""Which pairs of submissions share more than a class shares.

A fingerprint that d of n submissions have weighs log(n / d): what everybody writes, because the task leaves little choice,
weighs nothing. The evidence of a pair is the weight that both have, summed over all files; the score is evidence over the
weight of the smaller submission, so that 1 is a copy and 0 has nothing in common."""
import math
from collections import defaultdict
from dataclasses import dataclass, field

import winnow

LISTED_SCORE = 0.45  # chosen on class 1 of make bench-similar: its true pairs begin at .46, its false ones end at .35
LEAST_EVIDENCE = 25.0  # nats: as eight fingerprints that two of 60 have, which are three or four rare lines


@dataclass
class Pair:
    one: str
    other: str
    score: float = 0.0
    evidence: float = 0.0
    files: dict = field(default_factory=dict)  # file -> hashes that both have


def compare(submissions, skeletons, previous=()):
    """submissions: id -> {file: text}. Ids in `previous` are compared with the others only, not with each other. Returns
    the pairs, the most alike first; the fingerprints, file -> id -> hash -> lines; and what each hash weighs in its file."""
    prints = defaultdict(dict)
    given = {file: winnow.given_hashes(texts) for file, texts in skeletons.items()}
    for who, files in submissions.items():
        for file, text in files.items():
            found = winnow.fingerprints(text, given.get(file, frozenset()))
            if found:
                prints[file][who] = found
    pairs = {}
    total = defaultdict(float)  # of a student, over all files
    weights = {}
    for file, by_student in prints.items():
        owners = defaultdict(list)
        for who, found in by_student.items():
            for value in found:
                owners[value].append(who)
        count = len(by_student)
        # In a class of two or three nothing can be called common.
        weight = {value: math.log(count / len(who)) if count > 3 else 1.0 for value, who in owners.items()}
        weights[file] = weight
        for who, found in by_student.items():
            total[who] += sum(weight[value] for value in found)
        for value, who in owners.items():
            # What more than a third has weighs little, and its pairs are the square of its owners.
            if len(who) < 2 or (count > 6 and len(who) > count / 3):
                continue
            for i, one in enumerate(who):
                for other in who[i + 1:]:
                    if not (one in previous and other in previous):
                        pair = pairs.setdefault((one, other), Pair(one, other))
                        pair.files.setdefault(file, []).append(value)
                        pair.evidence += weight[value]
    for pair in pairs.values():
        pair.score = pair.evidence / max(min(total[pair.one], total[pair.other]), 1e-9)
    ranked = sorted((pair for pair in pairs.values() if pair.evidence >= LEAST_EVIDENCE),
                    key=lambda pair: (-round(pair.score, 6), -pair.evidence, pair.one, pair.other))
    return ranked, prints, weights


def identical(submissions, skeletons, previous=()):
    """[(file, [ids])]: who has one and the same text, layout and comments included. However much of it the class shares,
    nobody writes a file twice alike by chance. A skeleton that nobody has begun is no such text, nor are files of
    `previous` alone."""
    found = defaultdict(list)
    for who, files in submissions.items():
        for file, text in files.items():
            plain = "\n".join(text.split())
            if plain and plain not in ("\n".join(given.split()) for given in skeletons.get(file, ())):
                found[file, text.replace("\r\n", "\n").rstrip()].append(who)
    groups = [(file, who) for (file, _), who in found.items() if len(who) > 1 and not set(who) <= set(previous)]
    return sorted(groups, key=lambda group: (-len(group[1]), group))
