"""What crosses between the coordinator and a fetcher, as bytes: the values of `model.py` and nothing else.

A fetcher handles what strangers send, and may be in a bad state; so the coordinator must be able to read whatever comes
from it. A message is a pickle of plain values only (numbers, texts, bytes, lists), in which no class or function may be
named; the named tuples are made from them here, after each value was looked at. What is not one of our messages raises
BadMessage, and whoever sent it is not to be trusted any more.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Generic, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from pycrawl.model import (
    FetchResult,
    Jobs,
    Results,
)
from pycrawl.processes.plain_pickle import is_plain
from pycrawl.processes.value_checks import CHECKS, LARGEST, is_anything

MOST_BYTES = 256 << 20  # of one message; the bodies that a fetcher has open share half of that
BATCH_BYTES = 16 << 20  # of records and links, after which a fetcher sends what it has
MOST_RESULT_BYTES = 240 << 20  # of records and links in one message: the rest is small
_MOST_MEMBERS = 1_000  # of a mapping

_NEVER = object()  # stands for nothing: the field has no value that crosses as None
_new = tuple.__new__

T = TypeVar("T")


class BadMessage(Exception):
    """The bytes are not a message of ours."""


class _Plain(pickle.Unpickler):
    """Reads pickles of plain values."""

    def find_class(self, module: str, name: str) -> Any:
        raise BadMessage(f"it names {module}.{name}")


def pack(message: Results | Jobs) -> bytes:
    """Returns a message as bytes, for `unpack_results` or `unpack_jobs`."""
    codec: Any = _RESULTS if isinstance(message, Results) else _JOBS
    return pickle.dumps(codec.pack(message), pickle.HIGHEST_PROTOCOL)


def unpack_results(data: bytes | memoryview) -> Results:
    """Returns the message that a fetcher sent. Raises BadMessage for anything that `pack` has not made."""
    return _unpack(_RESULTS, data)


def unpack_jobs(data: bytes | memoryview) -> Jobs:
    """Returns the message that the coordinator sent."""
    return _unpack(_JOBS, data)


def size_of(result: FetchResult) -> int:
    """Returns about how many bytes a result takes in a message."""
    size = len(result.links.hashes) + len(result.links.texts)
    if result.anchors is not None:
        size += sum(map(len, result.anchors))
    for _, links in result.withheld:
        size += len(links.hashes) + len(links.texts)
    if result.source is not None:
        size += sum(len(named.links.hashes) + len(named.links.texts) for named in result.source.named)
        size += sum(len(document.body.record) for document in result.source.documents)
    return size if result.body is None else size + len(result.body.record)


def _unpack(codec: _Codec[T], data: bytes | memoryview) -> T:
    if not is_plain(data):
        raise BadMessage("it holds more than plain values")
    try:
        return codec.unpack(_Plain(io.BytesIO(data)).load())
    except BadMessage:
        raise
    except Exception as error:
        raise BadMessage(f"{type(error).__name__}: {error}") from error


class _Codec(Generic[T]):
    """Turns named tuples of one class into lists of plain values, and back. All is read off the class's annotations."""

    def __init__(self, cls: type[T], check: Callable[[T], bool] | None = None) -> None:
        """`check` says what has to be true of a value beside the types of its fields."""
        self._cls: Any = cls
        self._check = check or is_anything
        self._fields = {name: _field(hint) for name, hint in get_type_hints(cls).items()}
        self._nested = [
            (index, field.pack, field.unpack, field.nothing)
            for index, field in enumerate(self._fields.values())
            if field.pack is not None and field.unpack is not None
        ]
        self._usual: tuple[type, ...] = ()  # the types of the plain values that came last …
        self._shapes: set[tuple[type, ...]] = set()  # … and all that were found right before

    def pack(self, value: Any) -> list[Any]:
        values = list(value)
        for index, pack_field, _, nothing in self._nested:
            one = values[index]
            values[index] = pack_field(one) if one or nothing is _NEVER else None
        shape = tuple(map(type, values))
        if shape not in self._shapes:
            self._make_plain(values)
        return values

    def unpack(self, values: Any) -> T:
        shape = tuple(map(type, values))
        if shape != self._usual:
            if shape not in self._shapes:
                self._learn(values, shape)
            self._usual = shape
        for index, _, unpack_field, nothing in self._nested:
            one = values[index]
            values[index] = nothing if one is None else unpack_field(one)
        value: T = _new(self._cls, values)
        if not self._check(value):
            raise BadMessage(f"{self._cls.__name__} with values that do not fit together")
        return value

    def _make_plain(self, values: list[Any]) -> None:
        """Replace values of classes that are derived from a plain one, such as a text that is a member of an Enum."""
        for index, field in enumerate(self._fields.values()):
            if type(values[index]) not in field.types:
                values[index] = next(kind for kind in field.types if isinstance(values[index], kind))(values[index])
        self._learn(values, tuple(map(type, values)))

    def _learn(self, values: Any, shape: tuple[type, ...]) -> None:
        if type(values) is not list or len(shape) != len(self._fields):
            raise BadMessage(f"{self._cls.__name__} expected")
        for found, (name, field) in zip(shape, self._fields.items(), strict=True):
            if found not in field.types:
                raise BadMessage(f"{self._cls.__name__}.{name} is a {found.__name__}")
        self._shapes.add(shape)


class _Field(NamedTuple):
    """One field: the types of its plain values, how to make these and to read them, if that is needed, and the value
    that crosses as None, if there is one."""

    types: tuple[type, ...]
    pack: Callable[[Any], Any] | None = None
    unpack: Callable[[Any], Any] | None = None
    nothing: Any = None


def _field(hint: Any) -> _Field:
    """Returns how a field with this annotation crosses."""
    if isinstance(hint, UnionType):  # a value or None
        inner = _field(next(one for one in get_args(hint) if one is not NoneType))
        return inner._replace(types=(*inner.types, NoneType), nothing=None)
    if isinstance(hint, type) and issubclass(hint, Enum):
        members: dict[Any, Any] = {member.value: member for member in hint}
        return _Field((type(next(iter(members))),), lambda member: member.value, members.__getitem__, _NEVER)
    if hint in _CODECS:
        codec = _CODECS[hint]
        return _Field((list,), codec.pack, codec.unpack, _NEVER)
    if get_origin(hint) is tuple:
        return _tuple_field(get_args(hint))
    if get_origin(hint) is Mapping:
        return _Field((dict, NoneType), _plain_names, _mapping(*get_args(hint)), {})
    return _Field((int, float) if hint is float else (hint,))


def _tuple_field(args: tuple[Any, ...]) -> _Field:
    if args[-1] is Ellipsis:
        one = _field(args[0])
        pack_one, unpack_one = one.pack or _same, _checked(one)
        return _Field(
            (list, NoneType),
            lambda many: [pack_one(each) for each in many],
            lambda many: tuple([unpack_one(each) for each in many]),
            (),
        )
    fields = [_field(arg) for arg in args]
    return _Field(
        (list,),
        lambda values: [(field.pack or _same)(value) for field, value in zip(fields, values, strict=True)],
        lambda values: tuple(_checked(field)(value) for field, value in zip(fields, values, strict=True)),
        _NEVER,
    )


def _plain_names(members: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in members.items()}  # a name may be a member of an Enum


def _same(value: Any) -> Any:
    return value


def _checked(field: _Field) -> Callable[[Any], Any]:
    """Returns the function that reads a plain value that has not been looked at yet."""

    def read(value: Any) -> Any:
        if type(value) not in field.types:
            raise BadMessage(f"a {type(value).__name__} in a list of something else")
        return value if field.unpack is None else field.unpack(value)

    return read


def _mapping(of: Any, to: Any) -> Callable[[dict[Any, Any]], dict[Any, Any]]:
    """Returns the function that looks at a mapping from names to numbers."""

    def read(values: dict[Any, Any]) -> dict[Any, Any]:
        for name, value in values.items():
            if (
                type(name) is not of
                or type(value) not in (to, int)
                or not -1 < value < LARGEST
                or not name.isprintable()
            ):
                raise BadMessage("a mapping of something else")
        if len(values) > _MOST_MEMBERS:
            raise BadMessage("a mapping without end")
        return values

    return read


_CODECS: dict[Any, _Codec[Any]] = {}
for _class, _check in CHECKS:
    _CODECS[_class] = _Codec(_class, _check)
_RESULTS = _Codec(Results)
_JOBS = _Codec(Jobs)
