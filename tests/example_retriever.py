"""A retriever in twenty lines: `python example_retriever.py 9000 triples.tsv` answers on http://127.0.0.1:9000/.

It gives the triples of the question's entities, those first whose relation shares most words with the question.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def retrieve(request):
    asked, found = set(request["question"].lower().split()), []
    for head, relation, tail in TRIPLES:
        score = len(asked & set(relation.lower().split("_")))
        if head in request["entities"]:
            found.append(
                {"nodes": [head, tail], "relations": [relation], "forward": [True], "score": score}
            )
        if tail in request["entities"]:
            found.append(
                {"nodes": [tail, head], "relations": [relation], "forward": [False], "score": score}
            )
    return {"paths": sorted(found, key=lambda path: -path["score"])[: request["keep"]]}


class Retriever(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(retrieve(request)).encode())


if __name__ == "__main__":
    TRIPLES = [line.rstrip("\n").split("\t") for line in open(sys.argv[2], encoding="utf-8")]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Retriever).serve_forever()
