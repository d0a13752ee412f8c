"""Fetching over HTTP: two transports that take the same requests and give the same responses.

`transport.py` defines request, response and settings; `transports.py` knows which transports there are. `routes.py`
finds the way to a server: its addresses (`dns.py`), which of them may be dialled (`addresses.py`), a proxy
(`proxies.py`), and the cookies to send (`cookies.py`). `curl.py` (with `curl_slot.py`) and `urllib3_transport.py` (with
`urllib3_connections.py` and `tunnels.py`) are the two transports. `decoding.py` undoes the content encoding of a body.
`loop.py` is the event loop of a fetcher.
"""
