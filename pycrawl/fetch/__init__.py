"""Fetching: transports with one face, limits, decoding, names, and the guard over addresses.

`transport.py` says what goes in and out, `transports.py` which transports there are. `base.py` finds the way to a
server: its addresses (`dns.py`), the guard over them (`addresses.py`), a proxy (`proxies.py`), cookies (`cookies.py`).
`curl.py` and `threads.py` are the two transports, `decoding.py` takes the bodies of both. `loop.py` is what everything
in a fetcher runs on.
"""
