"""The figures that jounce returns: in a notebook, they appear once."""

from __future__ import annotations

from io import BytesIO

import matplotlib
from matplotlib.figure import Figure


class ShownOnce(Figure):
    """A figure that a notebook shows once.

    Without this it appears twice: as the value of the cell, and at the end of the cell, where matplotlib's inline
    backend shows all open figures and closes them. So it is closed as soon as it is shown.
    """

    def _ipython_display_(self) -> None:
        if not matplotlib.get_backend().lower().endswith("inline"):  # "inline" or "module://...backend_inline"
            raise NotImplementedError  # another way to show figures: IPython goes on to that
        from IPython.display import Image, display
        from matplotlib import pyplot

        picture = BytesIO()
        self.savefig(picture, format="png", dpi=100)
        display(Image(picture.getvalue()))
        pyplot.close(self)
