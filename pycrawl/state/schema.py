"""The tables of `state.db`: who fills each, who empties it, what is true of it at all times.

A released step is never changed; a change of the schema is a new step at the end of `STEPS`.
"""

from __future__ import annotations

from typing import NamedTuple

_FIRST_RELEASE = """
-- Facts about the crawl itself (the hash seed, when it was made). Filled once by `init`.
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Totals over all runs. Every group commit adds its part, so they agree with the tables at every commit.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- One row for each `pycrawl crawl`. `ended_at` is null while it runs, and stays so if it is killed.
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, started_at REAL NOT NULL, ended_at REAL, pid INTEGER NOT NULL,
    pages INTEGER NOT NULL DEFAULT 0, updated_at REAL NOT NULL, ended_by TEXT NOT NULL DEFAULT ''
);

-- Every host met. `ready_at`: not to be hit before (seconds since the epoch). `failures`: in a row.
-- `robots_failing_since`: since when its robots.txt has given nothing but errors; 0: it has not.
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, is_seed INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
    ready_at REAL NOT NULL DEFAULT 0, crawl_delay REAL NOT NULL DEFAULT 0, address TEXT NOT NULL DEFAULT '',
    robots_failing_since REAL NOT NULL DEFAULT 0
);

-- robots.txt as answered, by origin ("https://example.com"). Status 0: no answer.
CREATE TABLE robots (
    origin TEXT PRIMARY KEY, status INTEGER NOT NULL, body BLOB NOT NULL,
    fetched_at REAL NOT NULL, expires_at REAL NOT NULL
) WITHOUT ROWID;

-- Every URL that passed filter and URL-seen, once, in the order of discovery. Rows are never changed or removed.
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, host_id INTEGER NOT NULL, depth INTEGER NOT NULL,
    hops INTEGER NOT NULL, via INTEGER NOT NULL, parent_id INTEGER NOT NULL, found_at REAL NOT NULL
);

-- The hashes of `urls`, in chunks of CHUNK ids: what URL-seen reads at the start. An incomplete chunk is not here.
CREATE TABLE url_hashes (first_id INTEGER PRIMARY KEY, hashes BLOB NOT NULL);

-- A copy of URL-seen as it stands in memory: for each partition the sorted hashes and their ids, together those of the
-- first so many URLs. Written now and then, and at the end; what is newer comes from `url_hashes` and `urls`.
CREATE TABLE url_sorted (partition INTEGER PRIMARY KEY, hashes BLOB NOT NULL, ids BLOB NOT NULL);

-- In-links seen so far (7 bits a URL; the eighth: it has left `front`), in chunks. Best effort: written now and then.
CREATE TABLE url_inlinks (first_id INTEGER PRIMARY KEY, counts BLOB NOT NULL);

-- Mercator's front queues, in the order of discovery within a priority. Filled by the sieve and by --recrawl, emptied
-- by the pull into a back queue. A URL to be fetched stands in `front` or in `back`, in one of them, once.
CREATE TABLE front (
    priority INTEGER NOT NULL, url_id INTEGER NOT NULL, host_id INTEGER NOT NULL, revisit INTEGER NOT NULL,
    PRIMARY KEY (priority, url_id)
) WITHOUT ROWID;

-- Mercator's back queues: first in, first out within a host; also the host-to-back-queue table, as the hosts that stand
-- here are those that have one. The heap's key is `hosts.ready_at`. Filled by the pull from `front`. A URL leaves when
-- its visit is committed; so a lease needs no row, and whatever was in flight when the power went is still queued.
CREATE TABLE back (
    host_id INTEGER NOT NULL, seq INTEGER NOT NULL, url_id INTEGER NOT NULL, tries INTEGER NOT NULL,
    revisit INTEGER NOT NULL, PRIMARY KEY (host_id, seq)
) WITHOUT ROWID;

-- The last visit of every URL that was tried to the end. `requeued`: --recrawl has put it back into `front` since.
CREATE TABLE visits (
    url_id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, status INTEGER NOT NULL, visited_at REAL NOT NULL,
    tries INTEGER NOT NULL, detail TEXT NOT NULL, etag TEXT NOT NULL, last_modified TEXT NOT NULL,
    digest BLOB NOT NULL, document_id INTEGER NOT NULL, requeued INTEGER NOT NULL DEFAULT 0
);

-- (URL, time) → record. Append only. A copy of a stored page points to the same record, with `duplicate_of` set.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, url_id INTEGER NOT NULL, url_hash INTEGER NOT NULL, fetched_at REAL NOT NULL,
    file_id INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, number INTEGER NOT NULL,
    body_length INTEGER NOT NULL, digest BLOB NOT NULL, content_type TEXT NOT NULL,
    charset TEXT NOT NULL, declared_charset TEXT NOT NULL, escapes BLOB NOT NULL,
    truncated INTEGER NOT NULL, duplicate_of INTEGER NOT NULL
);
CREATE INDEX documents_by_url ON documents (url_hash, fetched_at);

-- The fingerprint table: the digest of every stored body → the document that holds it.
CREATE TABLE fingerprints (digest BLOB PRIMARY KEY, document_id INTEGER NOT NULL) WITHOUT ROWID;

-- The fingerprints of the text of every document with a record of its own and with words (`fingerprint/packed.py`).
CREATE TABLE page_prints (document_id INTEGER PRIMARY KEY, prints BLOB NOT NULL);

-- Near-duplicates: each points to an older document; who stands at the end of the way represents the cluster. Filled by
-- every group commit. A representative is not here, so there are as many rows as documents that are not needed.
CREATE TABLE near (document_id INTEGER PRIMARY KEY, near_id INTEGER NOT NULL, resemblance REAL NOT NULL);

-- A copy of the index of near-duplicates as it stands in memory, of all documents up to `newest_id`. Written now and
-- then, and at the end; what is newer comes from `page_prints`. All rows are of one writing.
CREATE TABLE near_sorted (
    partition INTEGER PRIMARY KEY, newest_id INTEGER NOT NULL, bands INTEGER NOT NULL, rows INTEGER NOT NULL,
    entries BLOB NOT NULL
);

-- How many pages of a host are copies, exact or near, of pages of another; and the hosts that count as mirrors by that.
CREATE TABLE host_copies (
    host_id INTEGER NOT NULL, original_id INTEGER NOT NULL, pages INTEGER NOT NULL, PRIMARY KEY (host_id, original_id)
) WITHOUT ROWID;
CREATE TABLE mirrors (
    host_id INTEGER PRIMARY KEY, original_id INTEGER NOT NULL, shared INTEGER NOT NULL, pages INTEGER NOT NULL
);

-- Kinds of pages that brought little new: a host's URLs of one shape, of one section, and all of them ("…"). Filled and
-- changed by every group commit; kinds with a good yield are not here, as nothing has to be remembered of them.
CREATE TABLE patterns (
    host_id INTEGER NOT NULL, pattern TEXT NOT NULL, pages INTEGER NOT NULL, novel INTEGER NOT NULL,
    yield REAL NOT NULL, openness REAL NOT NULL, least_depth INTEGER NOT NULL, most_depth INTEGER NOT NULL,
    dead_ends REAL NOT NULL, found INTEGER NOT NULL, chances INTEGER NOT NULL, backs INTEGER NOT NULL,
    combined INTEGER NOT NULL, promise INTEGER NOT NULL, stopped INTEGER NOT NULL, PRIMARY KEY (host_id, pattern)
) WITHOUT ROWID;

-- What a host answered to a URL that cannot exist, by directory: a sample of the text (`traps/page_sample.py`) if it
-- was a 2xx answer, else nothing. Filled once for each.
CREATE TABLE probes (
    host_id INTEGER NOT NULL, directory TEXT NOT NULL, pairs BLOB NOT NULL, PRIMARY KEY (host_id, directory)
) WITHOUT ROWID;

-- The compound files: bytes and records that count. What a file has beyond `length` was never committed.
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL, length INTEGER NOT NULL, records INTEGER NOT NULL);
"""

_PASSAGES = """
-- The inverted index of passages (`passages.py`), in sorted runs. Every group commit adds a run of its documents, and
-- moves entries from some runs into another of the next level (`goes_into`; 0: into none). A run has entries, and goes
-- with its last one.
CREATE TABLE passage_runs (id INTEGER PRIMARY KEY, level INTEGER NOT NULL, goes_into INTEGER NOT NULL);

-- The runs' entries, in blocks of a page each, found by the first: 31 bits of a fingerprint, 32 of a document's id.
-- Each is here once, and its document is in `page_prints`.
CREATE TABLE passage_blocks (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, first INTEGER NOT NULL, entries BLOB NOT NULL
);
CREATE UNIQUE INDEX passage_blocks_by_first ON passage_blocks (run_id, first);
"""

_KINDS_AND_SERIES = """
-- Kinds of URLs (`traps/`) that are not good: a host's URLs of one shape, of one section, and all of them ("…"). Takes
-- the place of `patterns`. Filled and changed by every group commit; of a kind without a row nothing bad is known.
CREATE TABLE kinds (
    host_id INTEGER NOT NULL, kind TEXT NOT NULL, pages INTEGER NOT NULL, new INTEGER NOT NULL,
    yield REAL NOT NULL, open_share REAL NOT NULL, least_depth INTEGER NOT NULL, most_depth INTEGER NOT NULL,
    dead_ends REAL NOT NULL, found INTEGER NOT NULL, chances INTEGER NOT NULL, backs INTEGER NOT NULL,
    combined INTEGER NOT NULL, in_series INTEGER NOT NULL, pages_allowed INTEGER NOT NULL, stopped INTEGER NOT NULL,
    PRIMARY KEY (host_id, kind)
) WITHOUT ROWID;
INSERT INTO kinds SELECT host_id, pattern, pages, novel, yield, openness, least_depth, most_depth, dead_ends, found,
    chances, backs, combined, 0, promise, stopped FROM patterns;
DROP TABLE patterns;

-- Series of URLs that run on beyond all positions that other pages name (`traps/series.py`). Filled and changed by
-- every group commit.
CREATE TABLE series (
    host_id INTEGER NOT NULL, series TEXT NOT NULL, is_dated INTEGER NOT NULL, first_named INTEGER NOT NULL,
    last_named INTEGER NOT NULL, pages INTEGER NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL,
    future INTEGER NOT NULL, useful INTEGER NOT NULL, stopped INTEGER NOT NULL, PRIMARY KEY (host_id, series)
) WITHOUT ROWID;
"""

_LEDGER = """
-- The ledger: every URL with a normal form that was named anywhere is in `urls` once. `aside`: why it is not to be
-- asked for, the number of a reason (`urls/reasons.py`); 0: it is not aside. `ask`: what asks that it not be followed,
-- as far as all links to it do (bits: `urls/asks.py`). `depth` is that of the shortest way known from a seed, and
-- shrinks. A URL with aside = 0 and without a visit stands in `front`, `back` or `held`, in one of them, once; a URL
-- with another `aside` stands in none of them.
ALTER TABLE urls ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
ALTER TABLE urls ADD COLUMN ask INTEGER NOT NULL DEFAULT 0;
CREATE INDEX urls_external ON urls (host_id) WHERE aside = 10;

-- `trouble`: the outcome of the last of the `failures` in a row; stale where there are none.
ALTER TABLE hosts ADD COLUMN trouble TEXT NOT NULL DEFAULT '';

-- `since`: when the first of the URL's visits in a row was that ended like the last one; 0: not known.
ALTER TABLE visits ADD COLUMN since REAL NOT NULL DEFAULT 0;

-- Finds the redirects that lead to a URL: their visits have its text as `detail`.
CREATE INDEX visits_by_target ON visits (detail) WHERE outcome = 'redirect';

-- URLs that are to be asked for, but not in this run, as an option of it (--max-depth) leaves them out. Filled when one
-- is pulled or leased; emptied into `front` when the next run opens.
CREATE TABLE held (url_id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL, revisit INTEGER NOT NULL);

-- For each page that was fetched, the ids of the URLs that its links name, as little-endian uint32 (the highest bit
-- marks the target of a redirect): what depths are handed on by when a shorter way is found. Filled with the links of
-- every batch, replaced when the page changes.
CREATE TABLE outlinks (url_id INTEGER PRIMARY KEY, targets BLOB NOT NULL);

-- The depths and reasons of `urls` as they stand in memory, in chunks of ids; written now and then, and at the end.
-- What has changed since is in `url_changes`, in the order of its ids.
CREATE TABLE url_standings (first_id INTEGER PRIMARY KEY, depths BLOB NOT NULL, asides BLOB NOT NULL);
CREATE TABLE url_changes (
    id INTEGER PRIMARY KEY, url_id INTEGER NOT NULL, depth INTEGER NOT NULL, aside INTEGER NOT NULL
);

-- What `forget` has removed and nobody may ask for again: "url" (16 hexadecimal digits of its hash), "host", "prefix".
CREATE TABLE unwanted (
    kind TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (kind, value)
) WITHOUT ROWID;

-- From now on each page fetched counts as stored, as a copy, as unchanged or as not kept. Earlier releases did not tell
-- the last two apart.
INSERT INTO counters SELECT 'not_kept:counted-by-an-older-release', rest FROM (
    SELECT sum(CASE name WHEN 'pages_fetched' THEN value ELSE -value END) AS rest FROM counters
    WHERE name IN ('pages_fetched', 'pages_stored', 'duplicates_exact')
) WHERE rest > 0;
"""

_FORGETTING = """
-- The URLs that `forget` has taken out of the ledger while documents of theirs may still lie in the collection. Filled
-- by the transaction that begins to forget them; emptied when nothing of them is left. While there is a fact
-- "forgetting" in `meta`, whoever opens the state for writing carries that on before anything else.
CREATE TABLE forgetting (url_id INTEGER PRIMARY KEY);

-- 1: records have left the file. None is added to it any more, as a number in it would come back under another page.
ALTER TABLE files ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
"""

_VERSIONS = """
-- `unkept`: how much the page had changed at its last visit since the document that it has (a `Change`), where
-- `recrawl.keep` did not want such a change to be stored; `digest` and validators are then those of the page as it was
-- found. Empty: the document has what was found last.
ALTER TABLE visits ADD COLUMN unkept TEXT NOT NULL DEFAULT '';

-- Documents to be removed from the collection, and why: "superseded" (`compact`) or "lost" (`verify --repair`).
-- Filled by the transaction that begins it, and emptied compound file by compound file. Whoever opens the state for
-- writing carries that on first.
CREATE TABLE leaving (document_id INTEGER PRIMARY KEY, reason TEXT NOT NULL);
"""

_ROBOTS_FAILURES = """
-- Origins ("https://example.com") whose robots.txt cannot be had at present, for whatever reason: their URLs stay
-- queued until it can. Filled and changed by every failure to get one, emptied when it is answered. `next_at`: when it
-- is asked for again, or 0: it counts as missing by now; `not_before`: the time that a Retry-After named, or 0. A host
-- that has such an origin has a `robots_failing_since`.
CREATE TABLE robots_failures (
    origin TEXT PRIMARY KEY, since REAL NOT NULL, failures INTEGER NOT NULL, next_at REAL NOT NULL,
    not_before REAL NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL
) WITHOUT ROWID;

-- The Crawl-delay that each robots.txt asks for. `hosts.crawl_delay` is the longest of those of the host's origins;
-- until they are read again, both count as having asked for it.
ALTER TABLE robots ADD COLUMN crawl_delay REAL NOT NULL DEFAULT 0;
UPDATE robots SET crawl_delay = coalesce(
    (SELECT crawl_delay FROM hosts WHERE key = substr(origin, instr(origin, '//') + 2)), 0);

-- Earlier releases kept one failure of robots.txt for a host, and did not say of which origin: it is asked for anew, at
-- the time that was planned.
UPDATE hosts SET robots_failing_since = 0, failures = CASE trouble WHEN 'robots-unreachable' THEN 0 ELSE failures END
WHERE robots_failing_since > 0;
"""

_SOURCES = """
-- Sitemaps and feeds: URLs of `urls` whose answers are read for the URLs that they name (`sources.py`). Filled when one
-- is named; changed with each visit, whose outcome is in `visits`. `found_in`: the sitemap whose index or redirect
-- leads to it; 0: none. `level`: index files that led to it. `next_at`: when it is to be asked for again; 9e15: it is
-- queued, or never again. `watched`: seconds between its readings in all; `changes`: readings that differed from the
-- one before.
CREATE TABLE sources (
    url_id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, host_id INTEGER NOT NULL, found_in INTEGER NOT NULL,
    level INTEGER NOT NULL, over_limit INTEGER NOT NULL, next_at REAL NOT NULL, read_at REAL NOT NULL DEFAULT 0,
    entries INTEGER NOT NULL DEFAULT 0, watched REAL NOT NULL DEFAULT 0, changes INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0, hub TEXT NOT NULL DEFAULT '', topic TEXT NOT NULL DEFAULT ''
);
CREATE INDEX sources_by_next ON sources (next_at);
CREATE INDEX sources_by_host ON sources (host_id, kind);

-- Hosts whose robots.txt names a sitemap: it may list their URLs.
CREATE TABLE source_vouchers (
    url_id INTEGER NOT NULL, host TEXT NOT NULL, PRIMARY KEY (url_id, host)
) WITHOUT ROWID;

-- What the sitemap `source_id` says of a URL: when it changed last (seconds since the epoch; 0: it does not say), how
-- often it changes and how important it is (codes of `urls/hints.py`). Filled with the URLs, replaced when it changes.
CREATE TABLE url_hints (
    url_id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, lastmod INTEGER NOT NULL, changefreq INTEGER NOT NULL,
    priority INTEGER NOT NULL
);
"""

_SORTED_RUNS = """
-- What has random keys is kept in sorted runs (`runs/` says what is true of them), each of one store (`stores.py`).
-- They take the place of `fingerprints`, `documents_by_url`, `passage_runs`, `passage_blocks`, `near_sorted` and
-- `outlinks`. Every group commit adds a run to each store, and moves entries from some runs into another of the next
-- level (`goes_into`; 0: into none); those up to (`floor_key`, `floor_id`) have moved.
CREATE TABLE sorted_runs (
    id INTEGER PRIMARY KEY, store INTEGER NOT NULL, level INTEGER NOT NULL, goes_into INTEGER NOT NULL,
    floor_key INTEGER, floor_id INTEGER NOT NULL
);

-- The runs in stretches: the lowest and the highest key, the first key of each block, and a filter that knows all keys.
CREATE TABLE sorted_segments (
    id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    entries INTEGER NOT NULL, fences BLOB NOT NULL, filter BLOB NOT NULL
);
CREATE INDEX sorted_segments_by_run ON sorted_segments (run_id);

-- The entries of a segment, in blocks of a page each. The id: that of the segment times 4096, and the block's number.
CREATE TABLE sorted_blocks (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
"""

_RECRAWLS = """
-- The pages that the last `crawl --recrawl` chose, in the order in which they are to be asked for. Filled when it
-- starts, emptied by the pull into a back queue; the next --recrawl puts back what is left and chooses anew. Each has a
-- visit with `requeued`, and stands in no other queue. In `back` and `held`, such pages have revisit = 2.
CREATE TABLE recrawls (place INTEGER PRIMARY KEY, url_id INTEGER NOT NULL UNIQUE, host_id INTEGER NOT NULL);
CREATE INDEX back_recrawls ON back (url_id) WHERE revisit = 2;

-- How often what a host says of its pages was right, and how often wrong, as later answers showed: Last-Modified, the
-- lastmod of sitemaps, and ETags (wrong: the same bytes had another one). Changed by each group.
CREATE TABLE host_trust (
    host_id INTEGER PRIMARY KEY, modified_right INTEGER NOT NULL, modified_wrong INTEGER NOT NULL,
    lastmod_right INTEGER NOT NULL, lastmod_wrong INTEGER NOT NULL, etag_right INTEGER NOT NULL,
    etag_wrong INTEGER NOT NULL
);

-- The priors that the last choice of pages was made with (`policy/page_records.py`). `group_key` 0: the whole crawl;
-- else the id of a host times 65,536, and the kind of URL, or 0 for all of the host. Replaced by every choice.
CREATE TABLE change_priors (
    group_key INTEGER PRIMARY KEY, shape REAL NOT NULL, seconds REAL NOT NULL, never REAL NOT NULL
);

-- Visits of earlier releases have left no record of changes: the first recrawl enters them (`older_visits.py`).
INSERT INTO meta SELECT 'changes_missing', 0 FROM visits LIMIT 1;
"""


class Step(NamedTuple):
    """A step that also moves rows in Python, all in one transaction."""

    before: str  # SQL that makes new tables
    move: str  # the dotted name of a function that is called with the database
    after: tuple[str, ...]  # statements that remove what was moved


_TO_SORTED_RUNS = Step(
    _SORTED_RUNS,
    "pycrawl.state.to_sorted_runs.move",
    (
        "DROP TABLE fingerprints",
        "DROP INDEX documents_by_url",
        "DROP TABLE passage_blocks",
        "DROP TABLE passage_runs",
        "DROP TABLE near_sorted",
        "DROP TABLE outlinks",
    ),
)

_VISITS_IN_ORDER = Step(
    """
-- The last visit of every URL that was tried to the end, in the order of their first visits; takes the place of a table
-- in the order of `url_id`. The store `VISITS` leads from a URL to its row (`visit_ids.py`). `requeued`: it was put
-- back into a queue since. `since` and `unkept`: as above.
CREATE TABLE visits_in_order (
    id INTEGER PRIMARY KEY, url_id INTEGER NOT NULL, outcome TEXT NOT NULL, status INTEGER NOT NULL,
    visited_at REAL NOT NULL, tries INTEGER NOT NULL, detail TEXT NOT NULL, etag TEXT NOT NULL,
    last_modified TEXT NOT NULL, digest BLOB NOT NULL, document_id INTEGER NOT NULL,
    requeued INTEGER NOT NULL DEFAULT 0, since REAL NOT NULL DEFAULT 0, unkept TEXT NOT NULL DEFAULT ''
);
""",
    "pycrawl.state.visit_ids.move",
    (
        "DROP TABLE visits",
        "ALTER TABLE visits_in_order RENAME TO visits",
        "CREATE INDEX visits_by_target ON visits (detail) WHERE outcome = 'redirect'",
        # It counts rows of `visits` from now on; what was entered already is not entered twice (`older_visits.py`).
        "UPDATE meta SET value = 0 WHERE key = 'changes_missing'",
    ),
)

_LANGUAGES = """
-- The language of a document, as it declares or as its text reads: a tag in lower case ("en", "pt-br"); empty: not
-- known.
-- The counters `language:…` say how many documents there are of each.
ALTER TABLE documents ADD COLUMN language TEXT NOT NULL DEFAULT '';
INSERT INTO counters SELECT * FROM (SELECT 'language:unknown', count(*) AS value FROM documents) WHERE value > 0;
"""

_HEADS = """
-- What the headers said of large pages of servers that give nothing for a conditional request: a HEAD is compared with
-- it. `digest`: of the body that the visit found; `length`: Content-Length, -1 where there was none. Replaced by every
-- visit that fetches such a page.
CREATE TABLE head_marks (
    url_id INTEGER PRIMARY KEY, digest BLOB NOT NULL, size INTEGER NOT NULL,
    length INTEGER NOT NULL, etag TEXT NOT NULL, last_modified TEXT NOT NULL
);
-- How often HEAD told the truth of a host's pages, and how often not.
ALTER TABLE host_trust ADD COLUMN head_right INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host_trust ADD COLUMN head_wrong INTEGER NOT NULL DEFAULT 0;
"""

# The links of pages move from one store of sorted runs to others, and no table changes.
_TO_LINKS = Step("", "pycrawl.state.to_links.move", ())

_SHORT_SKETCHES = Step(
    """
-- Takes the place of `page_prints`, whose sketches had two bytes for each bin.
CREATE TABLE short_prints (document_id INTEGER PRIMARY KEY, prints BLOB NOT NULL);
""",
    "pycrawl.state.to_short_sketches.move",
    (
        "DROP TABLE page_prints",
        "ALTER TABLE short_prints RENAME TO page_prints",
        "DELETE FROM meta WHERE key = 'bands'",  # the index is made anew
    ),
)

_SHORT_COLUMNS = """
-- From now on, in `visits`: a `digest` of 1 is that of the document; a `since` of 1 is `visited_at`. For
-- `last_modified`, and `content_type` of `documents`, see `short_columns.py`. These would be taken for a short form:
UPDATE visits SET last_modified = '@' || last_modified WHERE substr(last_modified, 1, 1) = '@';
UPDATE documents SET content_type = '=' || content_type
WHERE length(content_type) = 1 OR substr(content_type, 1, 1) = '=';
"""

_ORIGIN_FAILURES = """
-- Origins that cannot be asked for pages at present: of_robots = 1, their robots.txt cannot be had; 0, no connection to
-- them could be made for a page. Their URLs stay queued until it can. Filled and changed by every such failure, emptied
-- when the origin answers. A host that has such an origin has a `failing_since`.
ALTER TABLE robots_failures RENAME TO origin_failures;
ALTER TABLE origin_failures ADD COLUMN of_robots INTEGER NOT NULL DEFAULT 1;
ALTER TABLE hosts RENAME COLUMN robots_failing_since TO failing_since;
"""

# Blocks of sorted runs are deleted as soon as their entries have moved. Earlier releases would miss them.
_BLOCKS_GO_SOONER = ""  # no table changes


_SUBSCRIPTIONS = """
-- Subscriptions to the news of feeds at their WebSub hubs, by the URL that stands for each in `urls` (`sources` says
-- when the hub is asked next). Filled when the hub is asked for the first time, changed by what it answers. `callback`:
-- the address that the hub was given, without the `token` behind it; `secret`: what it signs its pushes with. `asked`:
-- what the hub was asked for at `asked_at` and has not confirmed ("subscribe", "unsubscribe"); empty: nothing.
-- `ends_at`: when the subscription ends; 0: there is none. `pushed_at`: when the last news came.
CREATE TABLE subscriptions (
    url_id INTEGER PRIMARY KEY, feed_id INTEGER NOT NULL, topic TEXT NOT NULL, callback TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE, secret TEXT NOT NULL, asked TEXT NOT NULL, asked_at REAL NOT NULL,
    ends_at REAL NOT NULL DEFAULT 0, pushed_at REAL NOT NULL DEFAULT 0
);
"""

_ASKED_LATER = """
-- Visited URLs that are to be asked for again once they stand aside no more; all of them stand aside. Filled when a
-- setting by which a visit ended so has changed, when a document is lost, and when such a URL has to leave the queues;
-- emptied when they are let in (`later.py`).
CREATE TABLE asked_later (url_id INTEGER PRIMARY KEY);
"""

STEPS: tuple[str | Step, ...] = (
    _FIRST_RELEASE,
    _PASSAGES,
    _KINDS_AND_SERIES,
    _LEDGER,
    _FORGETTING,
    _VERSIONS,
    _ROBOTS_FAILURES,
    _TO_SORTED_RUNS,
    _SOURCES,
    _RECRAWLS,
    _VISITS_IN_ORDER,
    _TO_LINKS,
    _LANGUAGES,
    _SHORT_SKETCHES,
    _HEADS,
    _SHORT_COLUMNS,
    _ORIGIN_FAILURES,
    _BLOCKS_GO_SOONER,
    _SUBSCRIPTIONS,
    _ASKED_LATER,
)
VERSION = len(STEPS)
