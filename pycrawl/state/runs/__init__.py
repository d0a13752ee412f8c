"""Sorted runs: how the state keeps what has random keys, so that each byte is written a few times at any size.

A B-tree with random keys writes a whole page for each new entry, once it is larger than a commit. So such entries are
kept in sorted runs. Every group commit writes its new entries as one run, and some work is done on merging many small
runs into few large ones (`merging.py`). All of it happens in the transaction of the group.

    packing.py      numbers in as few bits as they take; ascending numbers; what is compressed
    entries.py      two forms of entries, sorted, and how they are packed into a block
    filters.py      Bloom filters: a look-up reads no block of a run that does not have the key
    tables.py       runs, segments and blocks in the database, and what memory holds of them
    merging.py      which runs are merged next, and one step of it
    id_runs.py      `IdRuns`: key → ids, many of one key (digest → documents, URL → documents, band → documents …)
    value_runs.py   `ValueRuns`: key → bytes, the last one written counts (URL id → its links)
    fixed_runs.py   `FixedRuns`: the same for records of one length, in arrays (URL id → what is known of its changes)

A *store* is one such collection (`tables.Store`), a *run* a sorted part of it, a *segment* a stretch of a run with a
filter, a *block* a stretch of a segment that fills a page of the database. What is true at every commit:

1. The entries of a run ascend strictly, by (key, id), through its blocks and segments in the order of their ids.
2. `fences` of a segment are the keys with which its blocks begin; its `first` and `last` bound all keys in it; its
   filter, where the store has filters, knows all keys in it. One that is empty, from before its store had filters,
   says nothing.
3. Runs of a higher level are older than runs of a lower one, and in a level those with lower ids are older. Where keys
   are replaced, the entry in the youngest run counts.
4. While runs are merged (`goes_into`), the entries up to (`floor_key`, `floor_id`) have moved to the run they go into.
   Readers pass over them in their old run; so each entry counts once, and a crash between two steps costs nothing.
5. A run, segment or block without live entries is deleted by the step that moved the last one. (A block that ends where
   the floor is may stay. In states of earlier releases, blocks stay as long as their segment.)

Blocks are as large as a page of the database less what SQLite needs. Memory holds eight bytes of each block (its
fence) and, where there are filters, one to three bytes of each entry.
"""
