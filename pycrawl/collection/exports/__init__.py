"""Exports: documents of a collection into files for other tools.

- `export.py`: one export, from the selection to the file
- `formats.py`: the formats by name, those of other packages too; what a format is
- `trec.py`, `warc.py`, `rows.py` (jsonl, links), `parquet.py`: the built-in formats
- `rendering.py`: documents into pieces of the output; `workers.py`: the processes that do so
- `output.py`: files that appear under their names when they are whole; `cdxj.py`: the index of a WARC
"""
