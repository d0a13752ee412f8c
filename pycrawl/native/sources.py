"""The digest of the C sources: `setup.py` builds it into the compiled module, the loader compares it.

`setup.py` runs this file on its own, so it imports nothing of pycrawl.
"""

from __future__ import annotations

import zlib
from pathlib import Path


def sources_digest(folder: Path) -> str:
    """Returns a checksum over the names and bytes of the C files in `folder`; "" where there are none, as in a wheel.

    Every process computes it at its start, so it is a CRC-32: it shall notice an edit, not an attack.
    """
    checksum = 0
    files = sorted(path for path in folder.iterdir() if path.suffix in (".c", ".h"))
    for file in files:
        checksum = zlib.crc32(file.read_bytes(), zlib.crc32(file.name.encode(), checksum))
    return f"{checksum:08x}" if files else ""
