"""A worker process of an export: takes batches of documents, and sends back what is to be written. It opens no
database."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

import pycrawl.parse.parsers  # noqa: F401  # loaded once, by the server that workers are forked from
from pycrawl.collection.exports import trec  # noqa: F401
from pycrawl.collection.exports.formats import Options
from pycrawl.collection.exports.rendering import Renderer, pack
from pycrawl.config import Config
from pycrawl.processes.allocation import collect_rarely, keep_freed_memory


def main(connection: Connection, docs: str, config: Config, options: Options) -> None:
    collect_rarely()
    keep_freed_memory()
    renderer = Renderer(Path(docs), config, options)
    while True:
        try:
            batch = connection.recv()
            for part in pack(renderer.render(batch)):
                connection.send_bytes(part)
        except (EOFError, BrokenPipeError):  # the export has ended
            return
