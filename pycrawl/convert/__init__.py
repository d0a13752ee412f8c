"""Conversion: PDF, Office and other documents into simple HTML, in a process of its own.

    kinds.py       which kind of document a body is, by its served type and its signature; what reads it
    sniffing.py    which converter reads it, where its bytes are signed otherwise
    simple_page.py the HTML that a converter writes, bounded in size and time
    pdf.py, …      one converter for each kind: bytes in, HTML out
    process.py     the converter process: limits on memory and time, one document after another
    converter.py   the other end of its pipe: sends documents, gets HTML, replaces a process that died

A converter gets hostile bytes. Whatever it raises, and however its process ends, costs its own document only: the
document is stored as it was served, and what is wrong with it has a name (`Trouble`).
"""
