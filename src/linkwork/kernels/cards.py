"""The GPUs of a machine: whether there is a usable one, how many, and which of them a thread works on.

Their names are ``"cuda"``, the current GPU of a thread, by default the first, and ``"cuda:0"``, ``"cuda:1"`` and so on.
numba-cuda is imported only when these functions are called.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from ..errors import DeviceError, MissingExtraError, OptionError

NAME = re.compile(r"cuda(?::(\d{1,3}))?")
OLDEST = (12, 0)  # CUDA version of the oldest supported driver


def require_library() -> None:
    """Raise an error if numba-cuda cannot be imported.

    Raises:
        MissingExtraError: If it is not installed.
        DeviceError: If it fails, as it does without CUDA's runtime library.
    """
    if importlib.util.find_spec("numba_cuda") is None:
        raise MissingExtraError("numba-cuda", "cuda", "solving on a graphics card")
    try:
        from numba import cuda  # noqa: F401 - to see whether it can be
    except (ImportError, AttributeError, OSError, RuntimeError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DeviceError(
            f"numba-cuda does not work here ({why}). If one of CUDA's libraries is missing, install them: "
            "pip install 'numba-cuda[cu13]'. Or use device='cpu'."
        ) from error


@cache
def require_card() -> None:
    """Raise an error if no GPU can be used.

    Raises:
        MissingExtraError: If numba-cuda is not installed.
        DeviceError: If it does not work, or if there is no driver, no GPU, or the driver is too old.
    """
    require_library()
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
    """Return the number of GPUs.

    Raises:
        DeviceError: If there is none.
    """
    require_card()
    from numba import cuda

    return len(cuda.gpus)


def card_number(device: str) -> int | None:
    """Return the number of the GPU that a name stands for; None for the current one of the thread.

    Raises:
        OptionError: If it is not the name of a GPU.
        DeviceError: If there is no such GPU.

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
    """Run the block with a GPU as the current one of this thread; None keeps the current one."""
    if number is None:
        yield
        return
    from numba import cuda

    with cuda.gpus[number]:
        yield


def current_card() -> int:
    """Return the number of the current GPU of this thread."""
    if card_count() == 1:
        return 0
    from numba import cuda

    return int(cuda.current_context().device.id)


def free_memory() -> int:
    """Return the free memory of the GPU [bytes]."""
    from numba import config, cuda

    if config.ENABLE_CUDASIM:
        return 1 << 30
    return int(cuda.current_context().get_memory_info()[0])
