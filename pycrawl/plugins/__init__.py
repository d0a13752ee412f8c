"""Plugins: parts of the crawler that other packages bring along, found by name through entry points.

- `registry.py`: which are installed, and how one is made with its settings
- `guard.py`: a call into a plugin, bounded in time; whatever it raises becomes `PluginFailed`

What a plugin has to offer is said beside its seam: parsers in `parse/parsers.py`, transports in `fetch/transports.py`,
filters in `urls/scope.py`, prioritisers in `policy/priority.py`. `docs/extending.md` teaches it.
"""
