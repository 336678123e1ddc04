"""Where a training runs: on which device, in which precision, in how many processes. No torch."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from core.from_json import dataclass_from_dict

Precision = Literal["float32", "tf32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
MOST_PROCESSES = 64
_DEVICE = re.compile(r"cpu|mps|cuda(:\d{1,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """`cuda` with several processes is a card for each. Raises ValueError for what cannot be.

    float32 is what the processor does bit for bit; `tf32` rounds what goes into a product of
    matrices to 10 bits on NVIDIA cards, `bfloat16` computes the forward pass by autocast.
    """

    device: str = "cpu"
    precision: Precision = "float32"
    processes: int = 1

    def __post_init__(self) -> None:
        if _DEVICE.fullmatch(self.device) is None:
            raise ValueError(f"device {self.device!r:.40}; devices: cpu, cuda, cuda:N, mps")
        if self.precision not in PRECISIONS:
            known = ", ".join(PRECISIONS)
            raise ValueError(f"precision {self.precision!r:.40}; precisions: {known}")
        if self.precision != "float32" and self.kind not in _FASTER[self.precision]:
            able = " and ".join(_FASTER[self.precision])
            raise ValueError(
                f"precision {self.precision} is for {able}; {self.kind} computes in float32"
            )
        if isinstance(self.processes, bool) or not 1 <= self.processes <= MOST_PROCESSES:
            raise ValueError(f"{self.processes} processes: 1 to {MOST_PROCESSES} are possible")
        if self.processes > 1 and self.device not in ("cpu", "cuda"):
            raise ValueError(
                f"{self.processes} processes on {self.device}, which is one device: cpu and cuda "
                "have room for several"
            )

    def moved(
        self, device: str, *, precision: Precision | None = None, processes: int | None = None
    ) -> "Where":
        """Where a run goes on: how it rounds is kept on the same device alone, unless told.

        Raises ValueError for what cannot be.
        """
        kept = self.precision if device == self.device else "float32"
        n_processes = self.processes if processes is None else processes
        return Where(device=device, precision=precision or kept, processes=n_processes)

    @property
    def kind(self) -> str:
        """The device without its number."""
        return self.device.partition(":")[0]

    @property
    def said(self) -> str:
        """In words, for a log: numbers of another precision are not to be taken for float32's."""
        products = {
            "float32": "computes in float32",
            "tf32": "rounds what goes into products of matrices to TF32 (10 bits)",
            "bfloat16": "computes the forward pass in bfloat16 where autocast allows it",
        }
        several = f" in {self.processes} processes" if self.processes > 1 else ""
        return f"trains on {self.device}{several}, which {products[self.precision]}"

    def to_dict(self) -> dict[str, Any]:
        """For run.json and cards; `where_from_dict` is the inverse."""
        return asdict(self)


def precisions_of(kind: str) -> list[Precision]:
    """What a kind of device computes in, as it does unless told first."""
    return [one for one in PRECISIONS if one == "float32" or kind in _FASTER[one]]


_FASTER: dict[Precision, tuple[str, ...]] = {"tf32": ("cuda",), "bfloat16": ("cuda", "mps")}

HERE = Where()  # the processor, alone


def where_from_dict(data: Mapping[str, Any] | None) -> Where:
    """Of a run or card; None is that of one from before there was a choice. Raises ValueError."""
    return HERE if data is None else dataclass_from_dict(Where, data)
