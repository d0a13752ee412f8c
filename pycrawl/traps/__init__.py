"""Traps: sites with more URLs than pages, how they are recognised, and the words for it.

* *Kind*: URLs of one host that are judged together. A URL is of three kinds, from narrow to wide: its *shape* (the path
  without what numbers or names the single page, and the names of its parameters), its *section* (the first directory,
  or whatever takes a query) and its host. (`url_kinds`)
* *Series*: URLs of a host that differ in nothing but a date or a number; *position*: that date or number. (`url_kinds`)
* *Close look*: what a fetcher reports of a page besides its content: its kinds, a *sample* of its text, where its links
  lead. Not every page gets one. (`page_sample`, `link_memory`)
* *New* page: it says something that no page of its section said before. Any other is *dull*. (`novelty`)
* *Closed* page: all its links are new and stay on its host (or in its section). Any other is *open*. (`link_memory`)
* *Back link*: a link to a page that is known but was not fetched yet; a menu's links do not count. (`link_memory`)
* *Yield* of a kind: the share of its pages that were new, the last pages counting most. *Open share*: the share that
  were open, likewise. (`kind_record`)
* *Stopped*: a kind, or a series, of which nothing more is asked for; its URLs are *traps*. (`kind_record`, `series`)
* *Probe*: a request for a URL that cannot exist. A *soft 404* is a page like the answer to a probe. (`host_record`)

`docs/traps.md` says which rules stop what, and where they fail. `state/kinds.py` keeps the records of all hosts.
Fetchers load `url_kinds`, `page_sample` and `link_memory` only; these do without numpy.
"""
