"""Where results are kept: a Zarr group that xarray reads, written piece by piece.

One chunk of each array is one piece. The chunk of the statuses is written last, so a piece is finished if it has a
status; what else an interrupted run has written of it is written again. The group says which study it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import counted, printable, quoted
from jounce._extras import needed
from jounce.study.errors import StudyError
from jounce.study.parameters import Grid
from jounce.study.pieces import MISSING, STATUSES, Found

if TYPE_CHECKING:
    import xarray as xr

    from jounce.study.description import Study

_KEY = "jounce study"  # the attribute of the group with the fingerprint


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
        self._target: Any = zarr.storage.MemoryStore() if place is None else fspath(place)
        with self._guarded("opened"):
            try:
                self._group = zarr.open_group(self._target, mode="r")
            except FileNotFoundError:
                self._create(table)
            else:
                self._check()
                if "status" not in self._group:  # interrupted while it was made
                    self._create(table)
            self.finished = self._group["status"][:][:: self._size] != MISSING
            if not self.finished.all():
                self._group = zarr.open_group(self._target, mode="r+")
                self._group.attrs.put(self._group.attrs.asdict())  # to see that it can be written

    def _create(self, table: NDArray[np.float64]) -> None:
        zarr = needed("zarr", "a study")
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
        self._group = zarr.open_group(self._target, mode="w", attributes=about)
        for i, (name, each) in enumerate(study.parameters.items()):
            self._array(name, np.float64, np.nan, {"units": each.unit}, len(table))[:] = table[:, i]
        self._array("member", np.int64, -1, {}, len(table))[:] = np.arange(len(table))
        for name, measure in study.measures.items():
            unit = str(getattr(measure, "unit", ""))
            worst = str(getattr(measure, "worst", "largest"))
            self._array(name, np.float64, np.nan, {"units": unit, "worst": worst}, self._size)
        self._array("reason", str, "", {}, self._size)
        flags = {"flag_values": [MISSING, *range(len(STATUSES))], "flag_meanings": _flags()}
        self._array("status", np.int8, MISSING, flags, self._size)  # last: with it the store is complete

    def _array(self, name: str, dtype: Any, empty: Any, attributes: dict[str, Any], chunk: int) -> Any:
        return self._group.create_array(
            name,
            shape=(self._members,),
            chunks=(min(chunk, self._members),),
            dtype=dtype,
            fill_value=empty,
            attributes=attributes,
            dimension_names=("member",),
        )

    def _check(self) -> None:
        """Whether the group belongs to this study, or else why not."""
        try:
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

    def write(self, piece: int, found: Found) -> None:
        """Stores a piece."""
        here = slice(piece * self._size, min((piece + 1) * self._size, self._members))
        with self._guarded("written"):
            for name, values in zip(self._study.measures, found.values, strict=True):
                self._group[name][here] = values
            if any(found.reasons):
                self._group["reason"][here] = np.array(found.reasons, dtype=object)
            self._group["status"][here] = found.status
        self.finished[piece] = True

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
        try:
            yield
        except OSError as fault:
            raise StudyError(f"{self.name} cannot be {what}: {fault.strerror or fault}") from fault


def read(place: Any) -> xr.Dataset:
    """The results in a store, finished or not; members that are not computed yet have the status -1.

    Args:
        place: a folder or URL.
    """
    xarray = needed("xarray", "a study")
    at = fspath(place) if isinstance(place, (str, PathLike)) else place
    found: xr.Dataset = xarray.open_zarr(at, chunks=None, consolidated=False)
    if _KEY not in found.attrs:
        raise StudyError(f"{place} holds something else than the results of a study")
    order = [*found.attrs["parameters"], *found.attrs["measures"], "status", "reason"]
    found = found[order].set_coords(found.attrs["parameters"])
    return found.assign(reason=found["reason"].astype(object))  # NumPy's own strings cannot be missing, as in `where`


def _flags() -> str:
    return " ".join(each.replace(" ", "_") for each in ("not computed", *STATUSES))
