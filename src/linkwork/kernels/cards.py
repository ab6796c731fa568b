"""The graphics cards of a machine: whether there is one to be used, how many, and which of them a thread works on.

Their names are ``"cuda"``, the one that a thread is at already, by default the first, and ``"cuda:0"``, ``"cuda:1"``
and so on. This imports numba-cuda only when it is asked about cards.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from ..errors import DeviceError, MissingExtraError, OptionError

NAME = re.compile(r"cuda(?::(\d{1,3}))?")
OLDEST = (12, 0)  # CUDA version of the oldest driver that will do


@cache
def require_card() -> None:
    """Raise what is missing where no graphics card can be used.

    Raises:
        MissingExtraError: If numba-cuda is not installed.
        DeviceError: If there is no driver, no card, or too old a driver.
    """
    if importlib.util.find_spec("numba_cuda") is None:
        raise MissingExtraError("numba-cuda", "cuda", "solving on a graphics card")
    from numba import config, cuda

    if config.ENABLE_CUDASIM:
        return
    if not cuda.is_available():
        driver = cuda.cudadrv.driver.driver
        why = str(driver.initialization_error or "no device was found").strip().splitlines()[0]
        raise DeviceError(
            f"no graphics card can be used here ({why}); device='cuda' needs an NVIDIA card and its driver. "
            "Use device='cpu', or see `nvidia-smi`."
        )
    version = cuda.cudadrv.driver.driver.get_version()
    if tuple(version) < OLDEST:
        has, needs = (".".join(map(str, v)) for v in (version, OLDEST))
        raise DeviceError(f"the driver of the graphics card is for CUDA {has}; {needs} or newer is needed: update it.")


@cache
def card_count() -> int:
    """Return how many cards there are.

    Raises:
        DeviceError: If there is none.
    """
    require_card()
    from numba import cuda

    return len(cuda.gpus)


def card_number(device: str) -> int | None:
    """Return the number of the card that a name stands for; None for the one that the thread is at.

    Raises:
        OptionError: If it is no name of a card.
        DeviceError: If there is no such card.

    Example:
        >>> card_number("cuda")
    """
    found = NAME.fullmatch(device)
    if found is None:
        raise OptionError(f"a graphics card is called 'cuda', 'cuda:0', 'cuda:1' and so on, got {device!r}.")
    if found[1] is None:
        return None
    if int(found[1]) >= card_count():
        raise DeviceError(f"there is no card {device!r} here: there are {card_count()}, counted from 0.")
    return int(found[1])


@contextmanager
def at_card(number: int | None) -> Iterator[None]:
    """Let this thread work on a card, with all that it asks numba-cuda for."""
    if number is None:
        yield
        return
    from numba import cuda

    with cuda.gpus[number]:
        yield


def current_card() -> int:
    """Return the number of the card that this thread works on."""
    if card_count() == 1:
        return 0
    from numba import cuda

    return int(cuda.current_context().device.id)


def free_memory() -> int:
    """Return how many bytes of the card's memory are free."""
    from numba import config, cuda

    if config.ENABLE_CUDASIM:
        return 1 << 30
    return int(cuda.current_context().get_memory_info()[0])
