"""Where results are kept: a Zarr group that xarray reads, written piece by piece.

A chunk of an array holds whole pieces, about ten thousand members, and is replaced as a whole. Writing takes at most a
twentieth of the time: pieces that come faster wait a moment and are written together. Their statuses are written last,
so a piece is finished if it has a status; what else an interrupted run has written of it is written again.

The group says which study it belongs to, and which run writes to it: the last one that has begun. One that was taken
for dead ends with an error, so that two never change the same chunk.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from jounce._checks import counted, printable, quoted
from jounce._extras import needed
from jounce.study.errors import StudyError
from jounce.study.parameters import Grid
from jounce.study.pieces import MISSING, STATUSES, Found, joined

if TYPE_CHECKING:
    import xarray as xr

    from jounce.study.description import Study

_FORMAT = 3  # of Zarr; arrays of format 2 may be pickles
_KEY = "jounce study"  # the attribute of the group with the fingerprint
_RUN = "jounce run"  # and the one that says who writes to it
_CHUNK = 10_000  # members, about
_REST = 20.0  # between two writes, in times that one takes
_LONGEST = 10.0  # s between them, at most


class Store:
    """The results of one study.

    Args:
        study: whose they are.
        place: a folder or URL; None for this process's memory.
        table: (members, parameters) their values.

    Raises:
        StudyError: the place holds something else, or cannot be written.
    """

    def __init__(self, study: Study, place: str | PathLike[str] | None, table: NDArray[np.float64]) -> None:
        zarr = needed("zarr", "a study")
        self._study = study
        self.name = "memory" if place is None else printable(fspath(place))
        self._size, self._members = study.piece_size, study.members
        self._pending: dict[int, Found] = {}  # pieces that are not written yet
        self._due = 0.0  # when they will be, by the clock
        with self._guarded("opened"):
            self._target: Any = zarr.storage.MemoryStore() if place is None else _located(fspath(place))
            try:
                self._group = zarr.open_group(self._target, mode="r")
            except FileNotFoundError:
                self._create(table)
            else:
                self._check()
                if "status" not in self._group:  # interrupted while it was made
                    self._fill(table)
            self.finished = self._group["status"][:][:: self._size] != MISSING
            if not self.finished.all():
                self._take_over()

    def _create(self, table: NDArray[np.float64]) -> None:
        study = self._study
        about = {
            _KEY: json.dumps(study.fingerprint()),
            "title": study.title,
            "parameters": list(study.parameters),
            "measures": list(study.measures),
            "grids": [name for name, each in study.parameters.items() if isinstance(each, Grid)],
            "shape": list(study.shape),  # of the grids, and the number of samples
            "method": study.method,
        }
        try:
            self._group = needed("zarr", "a study").open_group(self._target, mode="w-", attributes=about)
        except FileExistsError:
            raise StudyError(f"{self.name} holds something else than the results of a study") from None
        self._fill(table)

    def _fill(self, table: NDArray[np.float64]) -> None:
        """Makes the arrays."""
        self._group = needed("zarr", "a study").open_group(self._target, mode="r+")
        study, chunk = self._study, self._size * max(1, _CHUNK // self._size)
        for i, (name, each) in enumerate(study.parameters.items()):
            self._array(name, np.float64, np.nan, {"units": each.unit}, len(table))[:] = table[:, i]
        self._array("member", np.int64, -1, {}, len(table))[:] = np.arange(len(table))
        for name, measure in study.measures.items():
            unit = str(getattr(measure, "unit", ""))
            worst = str(getattr(measure, "worst", "largest"))
            self._array(name, np.float64, np.nan, {"units": unit, "worst": worst}, chunk)
        self._array("reason", str, "", {}, chunk)
        flags = {"flag_values": [MISSING, *range(len(STATUSES))], "flag_meanings": _flags()}
        self._array("status", np.int8, MISSING, flags, chunk)  # last: with it the store is complete

    def _take_over(self) -> None:
        """From now on this run writes, and none that was begun before; says whether it can."""
        self._group = needed("zarr", "a study").open_group(self._target, mode="r+")
        self._run = uuid4().hex
        self._group.attrs.put({**self._group.attrs.asdict(), _RUN: self._run})
        self._arrays = {name: self._group[name] for name in (*self._study.measures, "reason", "status")}

    def _array(self, name: str, dtype: Any, empty: Any, attributes: dict[str, Any], chunk: int) -> Any:
        return self._group.create_array(
            name,
            shape=(self._members,),
            chunks=(min(chunk, self._members),),
            dtype=dtype,
            fill_value=empty,
            attributes=attributes,
            dimension_names=("member",),
            overwrite=True,
        )

    def _check(self) -> None:
        """Whether the group belongs to this study, or else why not."""
        try:
            if self._group.metadata.zarr_format != _FORMAT:
                raise ValueError
            stored = json.loads(str(self._group.attrs[_KEY]))
        except (KeyError, ValueError):
            raise StudyError(f"{self.name} holds something else than the results of a study") from None
        own = self._study.fingerprint()
        short = ("samples", "method", "seed", "piece", "time limit", "jounce", "Python")
        differ = [
            f"{key} ({stored.get(key)}, not {value})" if key in short else key
            for key, value in own.items()
            if stored.get(key) != value
        ]
        if differ:
            title = quoted(str(self._group.attrs.get("title")))
            raise StudyError(f"{self.name} belongs to another study, {title}, which differs in {', '.join(differ)}")

    @property
    def computed(self) -> int:
        """How many pieces there are, stored or waiting."""
        return int(self.finished.sum()) + len(self._pending)

    def add(self, piece: int, found: Found) -> None:
        """Takes a piece, to be written now or soon."""
        self._pending[piece] = found
        self.write_if_due()

    def rest(self) -> float | None:
        """For how many seconds nothing has to be written; None if nothing waits."""
        return max(0.0, self._due - time.monotonic()) if self._pending else None

    def write_if_due(self) -> None:
        if self.rest() == 0.0:
            self.write()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """In the end, also one by an error or Ctrl-C, all that was added is written."""
        try:
            yield
        finally:
            self.write()

    def write(self) -> None:
        """Stores what waits."""
        if not self._pending:
            return
        begin, pieces = time.monotonic(), sorted(self._pending)
        with self._guarded("written"):
            self._expect_own()
            per_chunk = -(-self._arrays["status"].chunks[0] // self._size)
            for _, several in groupby(pieces, lambda piece: piece // per_chunk):
                self._replace(list(several), per_chunk)
        self.finished[pieces] = True
        self._pending.clear()
        end = time.monotonic()
        self._due = end + min(_REST * (end - begin), _LONGEST)

    def _expect_own(self) -> None:
        """Whether no other run has begun to write."""
        group = needed("zarr", "a study").open_group(self._target, mode="r")
        if group.attrs.get(_RUN) != self._run:
            raise StudyError(f"{self.name} is written by another run of this study, which began later")

    def _replace(self, pieces: list[int], per_chunk: int) -> None:
        """Writes pieces of one chunk."""
        first = pieces[0] // per_chunk * per_chunk * self._size
        here = slice(first, min(first + per_chunk * self._size, self._members))
        found = [self._pending[piece] for piece in pieces]
        members = [np.arange(len(each.status)) + piece * self._size for piece, each in zip(pieces, found, strict=True)]
        into, new = np.concatenate(members) - first, joined(found)
        columns: list[tuple[str, Any]] = list(zip(self._study.measures, new.values, strict=True))
        if any(new.reasons):
            columns.append(("reason", np.array(new.reasons, dtype=object)))
        for name, values in (*columns, ("status", new.status)):
            chunk = self._arrays[name][here]
            chunk[into] = values
            self._arrays[name][here] = chunk

    def progress(self) -> str:
        """How much of it is stored, in words."""
        done = int(self.finished.sum())
        return f"{done} of {counted(len(self.finished), 'piece')} are stored in {self.name}"

    def dataset(self) -> xr.Dataset:
        """All of it; arrays in a place are read when they are used."""
        found = read(self._group.store)
        return found.load() if self.name == "memory" else found

    @contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        """Errors of the place; what could not be written is not tried again."""
        try:
            with _guarded(self.name, what):
                yield
        except StudyError:
            self._pending.clear()
            raise


@contextmanager
def _guarded(name: str, what: str) -> Iterator[None]:
    """All errors of a place as those of a study: those of object stores, and of a package that is missing, too."""
    try:
        yield
    except StudyError:
        raise
    except Exception as fault:
        why = getattr(fault, "strerror", None) or " ".join(str(fault).split()) or type(fault).__name__
        raise StudyError(f"{name} cannot be {what}: {why}") from fault


def is_there(place: str) -> bool:
    """Whether something of Zarr is at a folder or URL.

    Raises:
        StudyError: it cannot be reached.
    """
    with _guarded(printable(place), "opened"):
        try:
            needed("zarr", "a study").open_group(_located(place), mode="r")
        except FileNotFoundError:
            return False
    return True


def _located(place: str) -> Any:
    """What Zarr opens: URLs without fsspec's memory of what there was, as other processes write there."""
    if "://" not in place:
        return place
    store = needed("zarr", "a study").storage.FsspecStore
    return store.from_url(place, storage_options={"use_listings_cache": False})


def read(place: Any) -> xr.Dataset:
    """The results in a store, finished or not; members that are not computed yet have the status -1.

    Args:
        place: a folder or URL.
    """
    xarray = needed("xarray", "a study")
    at = _located(fspath(place)) if isinstance(place, (str, PathLike)) else place
    found: xr.Dataset = xarray.open_zarr(at, chunks=None, consolidated=False, zarr_format=_FORMAT)
    if _KEY not in found.attrs:
        raise StudyError(f"{place} holds something else than the results of a study")
    found.attrs.pop(_RUN, None)
    if "status" not in found:
        raise StudyError(f"{place} has no results yet: its run has just begun, or was interrupted when it began")
    order = [*found.attrs["parameters"], *found.attrs["measures"], "status", "reason"]
    found["status"].load()  # before the measures: what is done now has them, also while a run goes on
    found = found[order].set_coords(found.attrs["parameters"])
    return found.assign(reason=found["reason"].astype(object))  # NumPy's own strings cannot be missing, as in `where`


def _flags() -> str:
    return " ".join(each.replace(" ", "_") for each in ("not computed", *STATUSES))
