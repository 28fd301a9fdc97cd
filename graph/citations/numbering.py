"""`Numbering`: the numbers a version of the report prints, given by first use."""

from collections.abc import Iterable


class Numbering:
    """Source number n -> printed number. One per version, shared by its sections in order.

    Printed numbers are contiguous from 1: a number is given only to a source that is cited.
    """

    __slots__ = ("_numbers", "order")

    def __init__(self, order: Iterable[int] = ()) -> None:
        self.order: list[int] = []  # source numbers; order[0] prints as [1]
        self._numbers: dict[int, int] = {}
        for n in order:
            self.of(n)

    def of(self, n: int) -> int:
        """The printed number of source `n`; a source not seen before gets the next one."""
        number = self._numbers.get(n)
        if number is None:
            self.order.append(n)
            number = self._numbers[n] = len(self.order)
        return number
