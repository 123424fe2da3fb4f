"""Storage servers for tests, in this process: S3 by moto, SFTP by paramiko, both on a free port of this machine."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

BUCKET = "bucket"


@cache
def s3_server() -> dict[str, str]:
    """The environment variables of clients of an S3 server with a bucket, one server for all tests of a process.

    Its clients are cached by fsspec, with the address that they were made with.
    """
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test-key",
        "AWS_SECRET_ACCESS_KEY": "test-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    boto3.client(
        "s3",
        endpoint_url=client["AWS_ENDPOINT_URL"],
        aws_access_key_id="test-key",
        aws_secret_access_key="test-secret",
        region_name="us-east-1",
    ).create_bucket(Bucket=BUCKET)
    atexit.register(server.stop)
    return client


@contextmanager
def sftp_server(folder: Path, password: str) -> Iterator[str]:
    """An SFTP server of a folder; yields the URL of the folder, with the password of the user 'me'."""
    paramiko = pytest.importorskip("paramiko", reason="paramiko is not installed")
    logging.getLogger("paramiko").setLevel(logging.CRITICAL)
    key = paramiko.RSAKey.generate(2048)
    handler = _handler(paramiko)

    class Login(paramiko.ServerInterface):  # type: ignore[name-defined, misc]
        def check_auth_password(self, username: str, given: str) -> int:
            right = username == "me" and given == password
            return int(paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED)

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return int(paramiko.OPEN_SUCCEEDED)

        def get_allowed_auths(self, username: str) -> str:
            return "password"

    welcome = socket.create_server(("127.0.0.1", 0))
    transports: list[Any] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = welcome.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, handler)
            transports.append(transport)
            with suppress(Exception):  # a client that went away
                transport.start_server(server=Login())

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"sftp://me:{password}@127.0.0.1:{welcome.getsockname()[1]}{folder}"
    finally:
        welcome.close()
        for transport in transports:
            transport.close()


def _handler(paramiko: Any) -> Any:
    """The files of this machine, by SFTP. Like OpenSSH's, `rename` fails where there is a file, `posix_rename` not."""

    def code(action: Any) -> Any:
        try:
            action()
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)
        return paramiko.SFTP_OK

    class Handle(paramiko.SFTPHandle):  # type: ignore[misc]
        def stat(self) -> Any:
            return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))

    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
        def list_folder(self, path: str) -> Any:
            try:
                entries = []
                for entry in os.scandir(path):
                    entries.append(paramiko.SFTPAttributes.from_stat(entry.stat()))
                    entries[-1].filename = entry.name
                return entries
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

        def stat(self, path: str) -> Any:
            try:
                return paramiko.SFTPAttributes.from_stat(Path(path).stat())
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

        lstat = stat

        def open(self, path: str, flags: int, attr: Any) -> Any:
            try:
                descriptor = os.open(path, flags, 0o644)
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)
            mode = "wb" if flags & os.O_WRONLY else "r+b" if flags & os.O_RDWR else "rb"
            handle = Handle(flags)
            handle.readfile = handle.writefile = os.fdopen(descriptor, mode)
            return handle

        def remove(self, path: str) -> Any:
            return code(lambda: Path(path).unlink())

        def mkdir(self, path: str, attr: Any) -> Any:
            return code(lambda: Path(path).mkdir())

        def rename(self, old: str, new: str) -> Any:
            def move() -> None:
                os.link(old, new)
                Path(old).unlink()

            return code(move)

        def posix_rename(self, old: str, new: str) -> Any:
            return code(lambda: Path(old).replace(new))

    return Files


def new_password() -> str:
    """A password that no other text contains."""
    return secrets.token_hex(12)
