# SPDX-License-Identifier: MIT
"""Answers of two services, and what is different in them."""

import re
import xml.etree.ElementTree as ET

# Said by HTTP and its libraries, not by the service.
TRANSPORT = {"date", "server", "connection", "keep-alive", "transfer-encoding", "content-length"}
# Azurite names its own newest version, and none in errors.
TRANSPORT |= {"x-ms-version"}
# Different at each request: that they are there is compared, and when they are the same as before.
VOLATILE_HEADERS = {"x-ms-request-id", "x-ms-client-request-id", "x-ms-lease-time"}
TIMES = re.compile(r"^\w{3}, \d\d \w{3} \d{4} |^\d{4}-\d\d-\d\dT")
ETAG = re.compile(r'^"?0x[0-9A-F]+"?$')
GUID = re.compile(r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
XML_VOLATILE = {"Message", "AuthenticationErrorDetail", "NextMarker", "CopyId"}


class Side:
    """A service, and what the steps of a story kept of its answers."""

    def __init__(self, plane, container):
        self.plane = plane
        self.kept = {"c": container, "url": plane.url}
        self.etags = set()

    def filled(self, text):
        for name, value in self.kept.items():
            text = text.replace("{" + name + "}", value)
        return text

    def ask(self, step):
        name, method, path, headers, body = step
        sent = {k: v and self.filled(v) for k, v in headers.items()}
        given = "Authorization" in sent
        answer = self.plane.call(method, self.filled(path), body, signed=not given, **sent)
        if "ETag" in answer.headers:
            self.kept[name] = answer.headers["ETag"]
        if marker := re.search(rb"<NextMarker>([^<]+)<", answer.body):
            self.kept["NextMarker"] = marker[1].decode()
        return self.seen(answer)

    def seen(self, answer):
        """What is to be compared: name -> text."""
        found = {"status": str(answer.status)}
        for name, value in answer.headers.items():
            low = name.lower()
            if low not in TRANSPORT:
                found[f"header {low}"] = "" if low in VOLATILE_HEADERS else self.text(value)
        if "xml" in answer.headers.get("Content-Type", "") and answer.body:
            found.update(self.elements(ET.fromstring(answer.body.decode("utf-8-sig"))))
        else:
            found["body"] = repr(answer.body)
        return found

    def text(self, value):
        """ETags become words, old if the story had the same before; so do the URL, the container, times and GUIDs."""
        if ETAG.match(value):
            bare = value.strip('"')
            age = "old" if bare in self.etags else "new"
            self.etags.add(bare)
            return value.replace(bare, f"{age} ETag")
        if TIMES.match(value):
            return "a time"
        if GUID.match(value) and len(set(value)) > 5:
            return "a GUID"
        return value.replace(self.plane.url, "{url}").replace(self.kept["c"], "{c}")

    def elements(self, root):
        """Path of each element -> its text; of elements with the same name, the number is in the path."""
        found = {}

        def walk(element, path):
            for name, value in element.attrib.items():
                found[f"xml {path}@{name}"] = self.text(value.rstrip("/"))
            text = (element.text or "").strip()
            if not len(element):
                found[f"xml {path}"] = "" if element.tag in XML_VOLATILE else self.text(text)
            count = {}
            for child in element:
                count[child.tag] = count.get(child.tag, -1) + 1
                number = f"[{count[child.tag]}]" if len(element.findall(child.tag)) > 1 else ""
                walk(child, f"{path}/{child.tag}{number}")

        walk(root, root.tag)
        return found


def differences(ours, theirs):
    """As texts, each once: what only one has, and what both have with other values; of answers with another status
    only that."""
    return list(dict.fromkeys(re.sub(r"\[\d+\]", "", text) for text in each_difference(ours, theirs)))


def each_difference(ours, theirs):
    told = [f"{answer['status']} {answer.get('header x-ms-error-code', '')}".strip() for answer in (ours, theirs)]
    if told[0] != told[1]:
        yield f"status: {told[0]}, Azurite {told[1]}"
        return
    for name in sorted({**ours, **theirs}):
        if name not in theirs:
            yield f"{name} only ours: {ours[name]}"
        elif name not in ours:
            yield f"{name} only Azurite's: {theirs[name]}"
        elif ours[name] != theirs[name]:
            yield f"{name}: {ours[name]}, Azurite {theirs[name]}"
