"""What Word and PowerPoint files have in common: relationships between parts, and the facts about the document."""

from __future__ import annotations

import posixpath

from pycrawl.convert.archive import Archive, joined
from pycrawl.convert.facts import iso_date
from pycrawl.convert.safe_xml import local_name, tree
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"


class Relations:
    """Where the relationships of one part lead: to addresses outside, or to other parts, by kind."""

    def __init__(self, archive: Archive, part: str) -> None:
        folder, name = posixpath.split(part)
        self.outside: dict[str, str] = {}  # id → address
        self.parts: dict[str, str] = {}  # id → name in the archive
        self.kinds: dict[str, str] = {}  # last word of the type, as "notesSlide" → name of the first such part
        data = archive.read_if_there(joined(folder, f"_rels/{name}.rels"))
        for relation in tree(data) if data else ():
            key, target = relation.get("Id", ""), relation.get("Target", "")
            if relation.get("TargetMode") == "External":
                self.outside[key] = target
            else:
                self.parts[key] = joined(folder, target)
                self.kinds.setdefault(posixpath.basename(relation.get("Type", "")), self.parts[key])


def main_part(archive: Archive, usual: str) -> str:
    """Returns the name of the part that holds the document. Raises Unconvertible if there is none."""
    name = Relations(archive, "").kinds.get("officeDocument", usual)
    if name not in archive.names:
        raise Unconvertible(Trouble.DAMAGED, f"it has no {usual}")
    return name


def relation_id(attributes: dict[str, str]) -> str:
    return attributes.get(RELATION_ID) or attributes.get(_STRICT_RELATION_ID, "")


def read_facts(archive: Archive, page: SimplePage) -> None:
    """Fill in title, author, language and date."""
    name = Relations(archive, "").kinds.get("core-properties", "docProps/core.xml")
    data = archive.read_if_there(name)
    if not data:
        return
    stated = {local_name(fact.tag): fact.text or "" for fact in tree(data) if isinstance(fact.tag, str)}
    page.title = stated.get("title", "")
    page.author = stated.get("creator", "")
    page.language = stated.get("language", "")
    page.date = iso_date(stated.get("created", "")) or iso_date(stated.get("modified", ""))
