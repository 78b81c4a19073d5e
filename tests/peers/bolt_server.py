"""A database server that speaks Bolt, for the peers' environment.

Run it by `python bolt_server.py FOLDER PORT PASSWORD`. It ends with its standard input.
"""

import socket
import sys

import arcadedb_embedded


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


if __name__ == "__main__":
    folder, port, password = sys.argv[1:]
    settings = {
        "host": "127.0.0.1",
        "http_port": free_port(),
        "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt_port": int(port),
        "bolt_host": "127.0.0.1",
    }
    server = arcadedb_embedded.create_server(folder, password, settings)
    server.start()
    server.create_database("films")
    print("ready", flush=True)
    sys.stdin.read()
    server.stop()
