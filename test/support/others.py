# SPDX-License-Identifier: MIT
"""A web server of somebody else: files, a container of blobs, and trouble."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape


class Others:
    """`files`: path -> bytes, "/container/blob". `trouble`: path -> a status, "hang", "cut" (in the body), "torn" (in the
    head), a path to go on to, or a list of what becomes of one request after another: None, a status, for how many seconds
    (a float) it takes, or what is called before it is answered.
    `seen`: the requests, as (method, path, query, headers)."""

    PAGE = 3  # names of a page of a list

    def __init__(self):
        self.files, self.trouble, self.seen = {}, {}, []
        self.blocks = {}  # not committed yet, by path and id
        self.over = threading.Event()
        others = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                others.get(self)

            def do_PUT(self):
                others.put(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def remove(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def note(self, handler):
        url = urlsplit(handler.path)
        path = unquote(url.path)
        self.seen.append((handler.command, path, url.query, dict(handler.headers)))
        return path, parse_qs(url.query), self.trouble.get(path)

    def answer(self, handler, status, body=b"", **headers):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        try:
            handler.wfile.write(body)
        except ConnectionError:  # whoever asked wants no more
            handler.close_connection = True

    def refuse(self, handler, trouble):
        """True: this one has trouble."""
        if trouble is None:
            return False
        if trouble == "hang":
            self.over.wait()
            handler.close_connection = True
        elif trouble == "cut":
            handler.send_response(200)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b"half")
            handler.close_connection = True
        elif trouble == "torn":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
            handler.close_connection = True
        elif isinstance(trouble, str):
            self.answer(handler, 302, Location=trouble)
        elif isinstance(trouble, list):  # the first of these, and then the others
            status = trouble.pop(0) if trouble else None
            if isinstance(status, float):
                self.over.wait(status)
                return False
            if callable(status):
                status()
                return False
            if status is None:
                return False
            self.answer(handler, status)
        else:
            code = {404: "ContainerNotFound", 403: "AuthenticationFailed"}.get(trouble, "Trouble")
            self.answer(handler, trouble, f"<Error><Code>{code}</Code></Error>".encode())
        return True

    def get(self, handler):
        path, query, trouble = self.note(handler)
        if self.refuse(handler, trouble):
            return
        if query.get("comp") == ["list"]:
            self.list(handler, path, query)
        elif path in self.files:
            self.answer(handler, 200, self.files[path])
        else:
            self.answer(handler, 404)

    def list(self, handler, container, query):
        start = f"{container}/" + query.get("prefix", [""])[0]
        names = sorted(p[len(container) + 1 :] for p in self.files if p.startswith(start))
        after = query.get("marker", [""])[0]
        names = [n for n in names if n > after]
        blobs = "".join(
            f"<Blob><Name>{escape(n)}</Name><Properties><Content-Length>{len(self.files[f'{container}/{n}'])}"
            "</Content-Length></Properties></Blob>"
            for n in names[: self.PAGE]
        )
        more = names[self.PAGE - 1] if len(names) > self.PAGE else ""
        xml = f"<?xml version='1.0'?><EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{escape(more)}</NextMarker>"
        self.answer(handler, 200, f"{xml}</EnumerationResults>".encode())

    def put(self, handler):
        path, query, trouble = self.note(handler)
        if isinstance(trouble, int):  # before the body has come
            handler.close_connection = True
            self.refuse(handler, trouble)
            return
        if trouble == "hang" and self.refuse(handler, trouble):
            return
        left, body = int(handler.headers["Content-Length"]), bytearray()
        while len(body) < left:
            piece = handler.rfile.read(min(65536, left - len(body)))
            if not piece:
                return
            body += piece
        if self.refuse(handler, trouble):
            return
        if query.get("comp") == ["block"]:
            self.blocks[path, query["blockid"][0]] = bytes(body)
        elif query.get("comp") == ["blocklist"]:
            ids = [e.text for e in ElementTree.fromstring(bytes(body))]
            self.files[path] = b"".join(self.blocks.pop((path, i)) for i in ids)
        else:
            self.files[path] = bytes(body)
        self.answer(handler, 201)
