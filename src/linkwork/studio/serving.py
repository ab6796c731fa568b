"""The server behind the page, made safe: this machine alone, its own pages alone, and nothing that is too large."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ..errors import MissingExtraError, OptionError, VersionError
from . import viser_privates
from .skins import PAINTING

# A file dropped anywhere on the page is handed to the button for uploads, whose tab is opened first if need be.
DROPPING = """
if (!window.linkworkDrops) {
  window.linkworkDrops = true;
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    const kept = new DataTransfer();  // the event's own list is emptied when it is over
    for (const file of event.dataTransfer.files) kept.items.add(file);
    const hand = (tries) => {
      const input = document.querySelector("input[type=file]");
      if (input) {
        input.files = kept.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (tries > 0) {
        const tab = [...document.querySelectorAll("[role=tab]")].find((one) => one.textContent === "Files");
        const press = (kind, make) => tab.dispatchEvent(new make(kind, { bubbles: true, button: 0, isPrimary: true }));
        if (tab) {
          for (const kind of ["down", "up"]) {
            press("pointer" + kind, PointerEvent);
            press("mouse" + kind, MouseEvent);
          }
          tab.click();
        }
        setTimeout(() => hand(tries - 1), 100);
      }
    };
    if (kept.files.length) hand(50);
  });
}
"""

HERE = ("127.0.0.1", "localhost", "::1")


def make_server(host: str, port: int, *, label: str, upload_limit: int) -> Any:
    """Return a running viser server that refuses what no page of its own would ask for.

    - A page of another origin, which any website could be, may not connect.
    - The page cannot open a way to the studio from the internet.
    - An upload above the limit is not taken.

    Args:
        host: The address to bind; ``127.0.0.1`` is this machine alone.
        port: The port; the next free one if it is taken, any for 0.
        label: What stands above the controls.
        upload_limit: Bytes of an upload at most.

    Raises:
        OptionError: If the address is not one of this machine.
        MissingExtraError: If viser is not installed.
        VersionError: If the installed viser lacks what these refusals are made of.
    """
    if not isinstance(port, int) or not 0 <= port <= 65535:
        raise OptionError(f"a port goes from 0 to 65535, got {port!r}.")
    try:
        import viser
    except ImportError as error:
        raise MissingExtraError("viser", "studio", "the studio") from error

    messages = viser_privates.checked_messages(viser)
    _check_address(host)

    class LocalServer(viser.ViserServer):
        """A server that never opens a tunnel."""

        def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002
            """Refuse: what is here stays here."""
            return None

    with quiet():
        server = LocalServer(host=host, port=port, label=label, verbose=False)
    try:
        viser_privates.check_server(viser, server)
    except VersionError:
        with quiet():
            server.stop()
        raise
    _guard(server, messages, host, upload_limit)
    for script in (DROPPING, PAINTING):
        viser_privates.connections(server).queue_message(messages.RunJavascriptMessage(source=script))
    return server


def _guard(server: Any, messages: Any, host: str, upload_limit: int) -> None:
    """Have a server refuse pages of other origins and uploads that are too large."""

    async def only_own_pages(connection: Any) -> None:
        headers = viser_privates.request_headers(server, connection.client_id)
        if headers is None or not same_origin(headers, host):
            await viser_privates.refuse(server, connection.client_id, "pages of other origins may not use this studio")

    def only_small_files(client_id: int, message: Any) -> None:
        if message.size_bytes > upload_limit:
            viser_privates.drop_upload(server, message.transfer_uuid)
            client = server.get_clients().get(client_id)
            if client is not None:
                text = f"{message.filename} is larger than {upload_limit / 2**20:.4g} MiB, the most that is uploaded."
                client.add_notification("Not uploaded", text, color="red")

    connections = viser_privates.connections(server)
    connections.on_client_connect(only_own_pages)
    connections.register_handler(messages.FileTransferStartUpload, only_small_files)
    connections.disconnect_all_clients()  # whoever came before the check must come again, and pass it


def _check_address(host: str) -> None:
    """Say now if nothing can be bound at an address: viser would try for ever."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(place)
    except (OSError, UnicodeError) as error:
        raise OptionError(
            f"host {host!r} is not an address of this machine: {error}; 127.0.0.1 is this one."
        ) from error


def same_origin(headers: Any, host: str) -> bool:
    """Return whether a request comes from a page of this server, or from no page at all.

    Example:
        >>> same_origin({"Origin": "http://localhost:8080", "Host": "localhost:8080"}, "127.0.0.1")
        True
        >>> same_origin({"Origin": "https://evil.example", "Host": "localhost:8080"}, "127.0.0.1")
        False
    """
    origin = headers.get("Origin")
    if origin is None:  # a program, which could do as it likes anyway
        return True
    try:
        page, asked = urlsplit(origin), urlsplit(f"//{headers.get('Host', '')}")
    except ValueError:  # no address at all
        return False
    if not page.netloc or page.netloc != asked.netloc:
        return False
    return host not in HERE or page.hostname in HERE  # a name that was made to lead here is refused


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep viser from writing to the terminal or a notebook: what there is to say, the command line says."""
    import rich

    console = rich.get_console()  # in a notebook it does not write to stdout
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before
