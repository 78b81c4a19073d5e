"""A small substitute for `vllm serve` with its command line and HTTP interface, without a model.

It answers /health, /tokenize and /v1/chat/completions (streamed), and requires the key of
VLLM_API_KEY for every path below /v1. The message decides the answer: “die” ends the server by kill
-9, “slow” keeps it writing, “engine” reports a dead engine. Any other message is echoed, with the
arguments that started the server.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def options() -> argparse.Namespace:
    """Parse the arguments of vLLM 0.32.0 that the project uses."""
    parser = argparse.ArgumentParser()
    serve = parser.add_subparsers(required=True).add_parser("serve")
    serve.add_argument("model")
    for name in ("host", "served-model-name", "dtype", "quantization", "reasoning-parser"):
        serve.add_argument(f"--{name}")
    for name in ("port", "max-model-len", "tensor-parallel-size", "max-loras", "max-lora-rank"):
        serve.add_argument(f"--{name}", type=int)
    serve.add_argument("--gpu-memory-utilization", type=float)
    serve.add_argument("--enable-prefix-caching", action="store_true")
    serve.add_argument("--enable-lora", action="store_true")
    serve.add_argument("--lora-modules", nargs="+", type=json.loads, default=[])
    return parser.parse_args()


class VllmHandler(BaseHTTPRequestHandler):
    """Request handler that answers as the command line options say."""

    given: argparse.Namespace
    dead = False

    def do_GET(self):
        self._send(503 if VllmHandler.dead else 200, {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            return self._send(
                200, {"count": sum(len(message["content"].split()) for message in body["messages"])}
            )
        if self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            return self._send(401, {"error": "Unauthorized"})
        if body["model"] not in {
            self.given.served_model_name,
            *(module["name"] for module in self.given.lora_modules),
        }:
            return self._send(
                404, {"error": {"message": f"The model `{body['model']}` does not exist."}}
            )
        said = body["messages"][-1]["content"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if said == "engine":
            VllmHandler.dead = True
            return None
        for word in self._words(said, body):
            self._event(
                {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            )
        usage = {"prompt_tokens": len(said.split()), "completion_tokens": 3, "total_tokens": 3}
        self._event(
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
        )
        self.wfile.write(b"data: [DONE]\n\n")

    def _words(self, said, body):
        if said == "die":
            yield "I "
            print("ValueError: the last words of a small server", flush=True)
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        for number in range(200 if said == "slow" else 0):
            yield f"{number} "
            time.sleep(0.05)
        yield json.dumps(
            {"said": said, "model": body["model"], "arguments": sys.argv[1:], "pid": os.getpid()}
        )

    def _event(self, event):
        full = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "small",
            **event,
        }
        self.wfile.write(f"data: {json.dumps(full)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        print(
            f'(APIServer pid=7) INFO:     127.0.0.1:5 - "POST {self.path} HTTP/1.1" 200 OK',
            flush=True,
        )


class VllmStandInServer(ThreadingHTTPServer):
    """A server that accepts any number of parallel requests."""

    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    VllmHandler.given = options()
    print(
        (
            "(APIServer pid=7) WARNING 11-26 The limit of files is low, which may end in "
            "`OSError: Too many open files`."
        ),
        flush=True,
    )
    print(f"cards {os.environ.get('CUDA_VISIBLE_DEVICES') or 'all'}", flush=True)
    print("Capturing CUDA graphs (FULL): 100%|######| 102/102 [00:06<00:00, 15.91it/s]", flush=True)
    if VllmHandler.given.model.endswith("broken"):
        print(
            "(EngineCore pid=7) ERROR 11-26 ValueError: No available memory for the cache blocks.",
            flush=True,
        )
        raise SystemExit("RuntimeError: Engine core initialization failed. See root cause above.")
    time.sleep(0.2)  # This stands for the time of loading.
    if VllmHandler.given.model.endswith("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = VllmStandInServer((VllmHandler.given.host, VllmHandler.given.port), VllmHandler)
    # The main thread serves: from Python 3.12 on no thread starts once the main thread has ended.
    server.serve_forever()


if __name__ == "__main__":
    main()
