"""The index of bands, the rule of joining, and what of it is on disk."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from pycrawl.fingerprint.packed import PACKED, Prints, pack, unpack
from pycrawl.fingerprint.page import of_text
from pycrawl.fingerprint.sketch import resemblance, sketch, unpack_sketch
from pycrawl.state.band_index import BandIndex
from pycrawl.state.database import Database
from pycrawl.state.mirrors import Mirrors, mirrors, original_of
from pycrawl.state.near_join import MARGIN, Clusters, Join, NearJoiner, banding
from pycrawl.state.near_seen import NearSeen, all_prints, bands_of_index, count_prints
from pycrawl.state.nearness import nearness_of
from tests.near_texts import edited, make_family, make_text

THRESHOLD = 0.9
TOP = 2**64 - 1

# The index


@pytest.mark.parametrize("most", [1, 3, 1_000])
def test_the_index_finds_what_a_dictionary_finds(most: int) -> None:
    source = np.random.default_rng(1)
    keys = source.integers(0, TOP, 400, dtype=np.uint64, endpoint=True)
    keys[:4] = (0, 1 << 26, TOP, TOP - (1 << 26))  # the first and last keys that differ in what counts
    index = BandIndex(recent=300)  # so that both runs are in use
    known: dict[int, list[int]] = defaultdict(list)
    for begin in range(1, 3_000, 100):
        ids = np.arange(begin, begin + 100, dtype=np.uint64)
        chosen = source.choice(keys, 100)
        index.insert(chosen, ids)
        for key, one in zip(chosen.tolist(), ids.tolist(), strict=True):
            known[key].append(one)
        below = source.integers(0, begin + 200, len(keys), dtype=np.uint64)
        places, found = index.find(keys, below, most)
        got: dict[int, list[int]] = defaultdict(list)
        for place, one in zip(places.tolist(), found.tolist(), strict=True):
            got[place].append(one)
        for place, (key, bound) in enumerate(zip(keys.tolist(), below.tolist(), strict=True)):
            assert sorted(got[place]) == [one for one in known[key] if one < bound][:most]
    assert len(index) == 3_000


def test_an_empty_index_finds_nothing() -> None:
    places, found = BandIndex().find(np.array([1, 2], np.uint64), np.array([9, 9], np.uint64), 5)
    assert (len(places), len(found)) == (0, 0)


# The rule


@pytest.mark.parametrize("threshold", [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])
def test_bands_miss_few_pairs_at_any_threshold(threshold: float) -> None:
    count, rows = banding(threshold)
    assert count * rows <= 200
    assert 1 - (1 - threshold**rows) ** count >= 0.99
    assert banding(0.9) == (16, 12)


def test_no_banding_finds_what_is_hardly_alike() -> None:
    with pytest.raises(ValueError, match=r"at least 0\.5"):
        banding(0.01)


def test_clusters_are_what_is_joined_by_any_way() -> None:
    clusters = Clusters()
    dice = random.Random(1)
    roots = list(range(5_000))
    for _ in range(2_000):
        younger, older = sorted(dice.sample(range(1, 5_000), 2), reverse=True)
        one, other = sorted((clusters.root(younger), clusters.root(older)))
        assert (roots[younger], roots[older]) in ((one, other), (other, one))
        if one != other:
            clusters.join(np.array([other], np.uint32), np.array([one], np.uint32))
            roots = [one if root == other else root for root in roots]
    assert [clusters.root(one) for one in range(1, 5_000)] == roots[1:]
    assert clusters.root(10**6) == 10**6


def prints_of(texts: list[str]) -> Prints:
    return unpack(pack(of_text(text)) for text in texts)


def texts_with_families(dice: random.Random) -> list[str]:
    texts = [text for _ in range(25) for text in make_family(dice, 250, (0.97, 0.93, 0.9, 0.85, 0.7, 0.4)).texts]
    texts += [text.upper().replace(" ", "\n") for text in texts[::9]]  # other bytes, the same words
    texts += [edited(dice, texts[0], 0.99) for _ in range(100)]  # a family larger than what is looked at
    dice.shuffle(texts)
    return texts


def joined(prints: Prints, batch: int, threshold: float = THRESHOLD) -> tuple[list[Join], NearJoiner]:
    joiner = NearJoiner(threshold, lambda ids: prints[ids - 1])
    ids = np.arange(1, len(prints) + 1, dtype=np.uint32)
    joins = []
    for begin in range(0, len(prints), batch):
        joins += joiner.join(ids[begin : begin + batch], prints[begin : begin + batch])
    return sorted(joins, key=lambda one: (one.document_id, one.near_id)), joiner


def test_how_documents_are_cut_into_batches_changes_nothing() -> None:
    prints = prints_of(texts_with_families(random.Random(2)))
    whole, _ = joined(prints, len(prints))
    assert len(whole) > 150
    for batch in (1, 2, 17):
        assert joined(prints, batch)[0] == whole


def test_a_join_leads_to_an_older_document_that_is_alike() -> None:
    prints = prints_of(texts_with_families(random.Random(3)))
    joins, joiner = joined(prints, 50)
    assert len({one.document_id for one in joins}) == len(joins), "each at most once"
    for join in joins:
        assert join.near_id < join.document_id
        assert joiner.clusters.root(join.document_id) == joiner.clusters.root(join.near_id)
        estimate = resemblance(prints["sketch"][join.document_id - 1], prints["sketch"][join.near_id - 1])
        assert join.resemblance == estimate


def test_all_pairs_that_are_alike_are_in_one_cluster() -> None:
    """The index and its bounds lose next to nothing of what comparing all pairs finds."""
    prints = prints_of(texts_with_families(random.Random(4)))
    _, joiner = joined(prints, 64)
    pairs = found = 0
    for one in range(len(prints)):
        for other in range(one):
            if resemblance(prints["sketch"][one], prints["sketch"][other]) >= THRESHOLD:
                pairs += 1
                found += joiner.clusters.root(one + 1) == joiner.clusters.root(other + 1)
    assert pairs > 1_000
    assert found >= 0.99 * pairs


def test_the_same_words_are_joined_with_resemblance_one() -> None:
    text = make_text(random.Random(5), 120)
    joins, joiner = joined(prints_of([text, text.upper(), text.replace(" ", " — ")]), 3)
    assert joins == [Join(2, 1, 1.0), Join(3, 1, 1.0)]
    assert isinstance(joiner.index, BandIndex)
    assert len(joiner.index) == banding(THRESHOLD)[0] + 1, "the first answers for the others"


def test_a_document_between_two_clusters_brings_them_together() -> None:
    dice = random.Random(6)
    base = make_text(dice, 2_000)
    far = [edited(dice, base, 0.93) for _ in range(2)]
    prints = prints_of([*far, base])
    assert resemblance(prints["sketch"][0], prints["sketch"][1]) < THRESHOLD - MARGIN + 0.02
    joins, joiner = joined(prints, 1, 0.92)
    assert [(one.document_id, one.near_id) for one in joins] in ([(2, 1), (3, 1)], [(2, 1), (3, 2)])
    assert {joiner.clusters.root(one) for one in (1, 2, 3)} == {1}


# On disk


class Crawled:
    """A crawl's documents, in groups, as the session handles them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database.create(path)
        self.seen = NearSeen(self.database, THRESHOLD)
        self.joins: list[Join] = []
        self.next_id = 1

    def group(self, texts: list[str]) -> None:
        for text in texts:
            self.seen.add(self.next_id, pack(of_text(text)))
            self.next_id += 2  # copies, and pages without words, leave gaps
        self.joins += self.seen.close_group()
        self.seen.flush()
        self.database.commit()

    def reopen(self) -> None:
        self.database.close()
        self.database = Database.open(self.path)
        self.seen = NearSeen(self.database, THRESHOLD)


@pytest.mark.parametrize("reopened", [(), (2,), (0, 1, 2, 3)])
def test_a_new_start_changes_nothing(tmp_path: Path, reopened: tuple[int, ...]) -> None:
    texts = texts_with_families(random.Random(7))
    groups = [texts[begin : begin + 70] for begin in range(0, len(texts), 70)]
    crawled, other = Crawled(tmp_path / "one.db"), Crawled(tmp_path / "other.db")
    for number, group in enumerate(groups):
        crawled.group(group)
        other.group(group)
        if number in reopened:
            other.reopen()
    assert crawled.joins == other.joins
    assert len(crawled.joins) > 150
    written = other.database.query("SELECT * FROM near ORDER BY document_id").fetchall()
    assert written == sorted((one.document_id, one.near_id, one.resemblance) for one in crawled.joins)
    assert count_prints(other.database) == len(texts)
    crawled.database.close()
    other.database.close()


def test_what_was_not_flushed_never_happened(tmp_path: Path) -> None:
    dice = random.Random(8)
    text = make_text(dice, 200)
    crawled = Crawled(tmp_path / "state.db")
    crawled.group([make_text(dice, 200)])
    crawled.seen.add(3, pack(of_text(text)))
    crawled.seen.close_group()
    crawled.reopen()
    crawled.group([text])
    assert crawled.joins == []
    crawled.database.close()


def test_another_threshold_makes_the_index_anew(tmp_path: Path) -> None:
    dice = random.Random(9)
    text = make_text(dice, 400)
    crawled = Crawled(tmp_path / "state.db")
    crawled.group([text])
    crawled.seen = NearSeen(crawled.database, 0.6)
    crawled.group([edited(dice, text, 0.7)])
    assert [(one.document_id, one.near_id) for one in crawled.joins] == [(3, 1)]
    crawled.database.commit()
    assert bands_of_index(crawled.database) == banding(0.6)
    crawled.database.close()


def test_who_represents_a_document(tmp_path: Path) -> None:
    dice = random.Random(10)
    text = make_text(dice, 300)
    crawled = Crawled(tmp_path / "state.db")
    crawled.group([text, make_text(dice, 300), edited(dice, text, 0.98)])
    crawled.group([text.upper()])
    assert nearness_of(crawled.database, 1) is None
    near, same = nearness_of(crawled.database, 5), nearness_of(crawled.database, 7)
    assert near is not None
    assert same is not None
    assert (near.near_id, near.representative_id) == (1, 1)
    assert (same.near_id, same.resemblance, same.representative_id) == (1, 1.0, 1)
    ((ids, prints),) = all_prints(crawled.database)
    assert ids.tolist() == [1, 3, 5, 7]
    assert prints["words"].tolist() == [300] * 4
    crawled.database.close()


def test_fingerprints_survive_packing() -> None:
    prints = of_text("A rose is a rose is a rose")
    (packed,) = unpack([pack(prints)])
    assert packed.dtype == PACKED
    assert packed["text_digest"].tobytes() == prints.text_digest
    assert (packed["simhash"], packed["words"]) == (prints.simhash, prints.words)
    assert np.array_equal(packed["sketch"], unpack_sketch(prints.sketch))
    assert packed["sketch"].shape == sketch(np.empty(0, np.uint64)).shape


# Mirrors


class Pages:
    """Documents of hosts: document and URL have the same id."""

    def __init__(self, database: Database, hosts: int) -> None:
        self.database = database
        self.pages = [0] * (hosts + 1)
        self.made = 0
        database.write_many("INSERT INTO hosts (id, key) VALUES (?, ?)", ((n, f"h{n}") for n in range(1, hosts + 1)))

    def add(self, host_id: int) -> int:
        self.made += 1
        self.pages[host_id] += 1
        self.database.write("INSERT INTO urls VALUES (?, '', ?, 0, 0, 1, 0, 0, 0, 0)", (self.made, host_id))
        self.database.write(
            "INSERT INTO documents VALUES (?, ?, 0, 0, 1, 0, 0, 0, 0, x'', '', '', '', x'', 0, 0, '')",
            (self.made, self.made),
        )
        return self.made


def test_a_mirror_is_a_host_most_of_whose_pages_are_copies(state: Database) -> None:
    pages = Pages(state, 2)
    originals = [pages.add(1) for _ in range(30)]
    counted = Mirrors(state)
    found = []
    for original in originals[:9]:
        found += counted.count([(pages.add(2), original)], pages.pages.__getitem__)
    assert found == [], "nine pages may be chance"
    pages.add(2)
    (mirror,) = counted.count([(pages.add(2), originals[9])], pages.pages.__getitem__)
    assert (mirror.host_id, mirror.original_id, mirror.shared, mirror.pages) == (2, 1, 10, 11)
    assert counted.count([(pages.add(2), originals[10])], pages.pages.__getitem__) == [], "it is known"
    assert Mirrors(state).originals == {2: 1}
    assert mirrors(state) == [("h2", "h1", 10, 11)]
    assert (original_of(state, 2), original_of(state, 1)) == ("h1", None)


def test_of_two_hosts_crawled_at_once_the_later_copier_is_the_mirror(state: Database) -> None:
    pages = Pages(state, 2)
    counted = Mirrors(state)
    found = []
    for number in range(20):
        first, second = (1, 2) if number % 3 else (2, 1)  # host 2 is first with one page in three
        original = pages.add(first)
        found += counted.count([(pages.add(second), original)], pages.pages.__getitem__)
    assert [(one.host_id, one.original_id) for one in found] == [(2, 1)]


def test_copies_within_a_host_and_few_of_many_pages_make_no_mirror(state: Database) -> None:
    pages = Pages(state, 2)
    counted = Mirrors(state)
    first = pages.add(1)
    copies = [(pages.add(1), first) for _ in range(50)]
    copies += [(pages.add(2), first) for _ in range(30)]
    for _ in range(10):
        pages.add(2)
    assert counted.count(copies, pages.pages.__getitem__) == []
