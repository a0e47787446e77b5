# SPDX-License-Identifier: MIT
"""Requests of Blob that two services are asked in the same order: each story in a container of its own, `{c}`.

A step is (name, method, path, headers, body); a value in braces is what an earlier step of the story kept: the ETag of
each answer under the step's name, the lease's id under `lease`."""

LEASES = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
BLOCK = {"x-ms-blob-type": "BlockBlob"}
APPEND = {"x-ms-blob-type": "AppendBlob"}
PAGE = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"}
EPOCH = "Thu, 01 Jan 1970 00:00:00 GMT"
LATER = "Fri, 01 Jan 2100 00:00:00 GMT"
IDS = ("MDAwMQ==", "MDAwMg==", "MDAwMw==")
BLOCKS_OF = [f"comp=block&blockid={i.replace('=', '%3D')}" for i in IDS]
C = "/{c}?restype=container"
LIST = f"{C}&comp=list"
MD5 = "XUFAKrxLKna5cZ2REBfFkg=="  # of b"hello"
WRONG_MD5 = "AAAAAAAAAAAAAAAAAAAAAA=="


def step(name, method, path, headers=None, body=b""):
    return (name, method, path, headers or {}, body)


def put(name, blob="b", body=b"hello", **headers):
    return step(name, "PUT", f"/{{c}}/{blob}", {**BLOCK, **dashed(headers)}, body)


def dashed(headers):
    return {k.replace("_", "-"): v for k, v in headers.items()}


def blocklist(*ids, kind="Latest"):
    inner = "".join(f"<{kind}>{i}</{kind}>" for i in ids)
    return f'<?xml version="1.0" encoding="utf-8"?><BlockList>{inner}</BlockList>'.encode()


def acl(public=None, *identifiers):
    body = "".join(
        f"<SignedIdentifier><Id>{i}</Id><AccessPolicy><Start>2026-01-01T00:00:00.0000000Z</Start>"
        f"<Expiry>2030-01-01T00:00:00.0000000Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier>"
        for i in identifiers
    )
    text = f'<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>{body}</SignedIdentifiers>'
    return ({"x-ms-blob-public-access": public} if public else {}), text.encode()


def tags(**pairs):
    body = "".join(f"<Tag><Key>{k}</Key><Value>{v}</Value></Tag>" for k, v in pairs.items())
    return f'<?xml version="1.0" encoding="utf-8"?><Tags><TagSet>{body}</TagSet></Tags>'.encode()


def lease(name, action, target="/{c}/b?comp=lease", **headers):
    return step(name, "PUT", target, {"x-ms-lease-action": action, **dashed(headers)})


def conditions(method, path, body=b"", **headers):
    """One request under each condition; `put` has made what it is about."""
    rows = (
        ("if-match", "{put}"),
        ("if-match", '"0x1"'),
        ("if-match", "*"),
        ("if-none-match", "{put}"),
        ("if-none-match", '"0x1"'),
        ("if-none-match", "*"),
        ("if-modified-since", EPOCH),
        ("if-modified-since", LATER),
        ("if-unmodified-since", EPOCH),
        ("if-unmodified-since", LATER),
    )
    for condition, value in rows:
        yield step(f"{condition} {value}", method, path, {**dashed(headers), condition: value}, body)


SERVICE = [
    step("list", "GET", "/?comp=list&prefix={c}"),
    step("list with metadata", "GET", "/?comp=list&prefix={c}&include=metadata"),
    step("list of one", "GET", "/?comp=list&prefix={c}&maxresults=1"),
    step("list of none", "GET", "/?comp=list&maxresults=0"),
    step("list of words", "GET", "/?comp=list&maxresults=many"),
    step("account", "GET", "/?restype=account&comp=properties"),
    step("account, head", "HEAD", "/?restype=account&comp=properties"),
    step("properties", "GET", "/?restype=service&comp=properties"),
    step("unknown comp", "GET", "/?comp=nothing"),
]

CONTAINERS = [
    step("get", "GET", C),
    step("head", "HEAD", C),
    step("again", "PUT", C),
    step("set metadata", "PUT", f"{C}&comp=metadata", {"x-ms-meta-k": "v", "x-ms-meta-Upper": "V"}),
    step("with metadata", "HEAD", C),
    step("get metadata", "GET", f"{C}&comp=metadata"),
    step("bad metadata", "PUT", f"{C}&comp=metadata", {"x-ms-meta-1 k": "v"}),
    step("get acl", "GET", f"{C}&comp=acl"),
    step("set acl", "PUT", f"{C}&comp=acl", *acl("blob", "one", "two")),
    step("acl again", "GET", f"{C}&comp=acl"),
    step("public", "HEAD", C),
    step("acl of six", "PUT", f"{C}&comp=acl", *acl(None, *"abcdef")),
    step("acl of nothing", "PUT", f"{C}&comp=acl", {}, b""),
    step("acl of no XML", "PUT", f"{C}&comp=acl", {}, b"<SignedIdentifiers>"),
    step("public as nobody knows", "PUT", f"{C}&comp=acl", {"x-ms-blob-public-access": "all"}),
    step("absent", "HEAD", "/{c}x?restype=container"),
    step("absent, get", "GET", "/{c}x?restype=container"),
    step("absent, acl", "GET", "/{c}x?restype=container&comp=acl"),
    step("absent, list", "GET", "/{c}x?restype=container&comp=list"),
    step("absent, delete", "DELETE", "/{c}x?restype=container"),
    step("short name", "PUT", "/ab?restype=container"),
    step("bad name", "PUT", "/a--b?restype=container"),
    step("public when made", "PUT", "/{c}p?restype=container", {"x-ms-blob-public-access": "container"}),
    step("its head", "HEAD", "/{c}p?restype=container"),
    step("deleted", "DELETE", "/{c}p?restype=container"),
    step("account", "GET", "/{c}?restype=account&comp=properties"),
]

CONTAINER_LEASES = [
    lease("acquire", "acquire", f"{C}&comp=lease", x_ms_lease_duration="60", x_ms_proposed_lease_id=LEASES[0]),
    step("leased", "HEAD", C),
    lease("again", "acquire", f"{C}&comp=lease", x_ms_lease_duration="15", x_ms_proposed_lease_id=LEASES[0]),
    lease("by another", "acquire", f"{C}&comp=lease", x_ms_lease_duration="15", x_ms_proposed_lease_id=LEASES[1]),
    step("delete without", "DELETE", C),
    step("delete with another", "DELETE", C, {"x-ms-lease-id": LEASES[1]}),
    step("metadata with another", "PUT", f"{C}&comp=metadata", {"x-ms-lease-id": LEASES[1]}),
    lease("renew", "renew", f"{C}&comp=lease", x_ms_lease_id=LEASES[0]),
    lease("change", "change", f"{C}&comp=lease", x_ms_lease_id=LEASES[0], x_ms_proposed_lease_id=LEASES[1]),
    lease("release of the old", "release", f"{C}&comp=lease", x_ms_lease_id=LEASES[0]),
    lease("release", "release", f"{C}&comp=lease", x_ms_lease_id=LEASES[1]),
    lease("break of none", "break", f"{C}&comp=lease"),
    lease("for ever", "acquire", f"{C}&comp=lease", x_ms_lease_duration="-1", x_ms_proposed_lease_id=LEASES[0]),
    lease("break", "break", f"{C}&comp=lease", x_ms_lease_break_period="0"),
    step("broken", "HEAD", C),
    lease("renew of broken", "renew", f"{C}&comp=lease", x_ms_lease_id=LEASES[0]),
]

CONTAINER_CONDITIONS = [
    step("put", "HEAD", C),
    *conditions("PUT", f"{C}&comp=metadata"),
]

BLOBS = [
    put("put", x_ms_meta_k="v", x_ms_blob_content_type="text/plain", x_ms_blob_cache_control="no-cache"),
    step("get", "GET", "/{c}/b"),
    step("head", "HEAD", "/{c}/b"),
    step("get metadata", "GET", "/{c}/b?comp=metadata"),
    step("set metadata", "PUT", "/{c}/b?comp=metadata", {"x-ms-meta-Other": "w"}),
    step("head with it", "HEAD", "/{c}/b"),
    step("bad metadata", "PUT", "/{c}/b?comp=metadata", {"x-ms-meta-a-b": "w"}),
    step(
        "set properties",
        "PUT",
        "/{c}/b?comp=properties",
        {
            "x-ms-blob-content-type": "image/png",
            "x-ms-blob-content-encoding": "gzip",
            "x-ms-blob-content-language": "de",
            "x-ms-blob-content-disposition": "inline",
            "x-ms-blob-content-md5": MD5,
        },
    ),
    step("head with these", "HEAD", "/{c}/b"),
    step("no properties", "PUT", "/{c}/b?comp=properties"),
    step("head without", "HEAD", "/{c}/b"),
    put("over it", body=b"second"),
    step("get the second", "GET", "/{c}/b"),
    put("empty", "empty", b""),
    step("get the empty", "GET", "/{c}/empty"),
    step("range of the empty", "GET", "/{c}/empty", {"x-ms-range": "bytes=0-10"}),
    put("with MD5", "sum", b"hello", Content_MD5=MD5),
    put("with a wrong MD5", "sum", b"hello", Content_MD5=WRONG_MD5),
    put("with a bad MD5", "sum", b"hello", Content_MD5="x"),
    put("with Content-Type", "typed", b"hello", Content_Type="text/x"),
    step("head of typed", "HEAD", "/{c}/typed"),
    step("without type", "PUT", "/{c}/untyped", {}, b"hello"),
    step("of an unknown type", "PUT", "/{c}/untyped", {"x-ms-blob-type": "Blob"}, b"hello"),
    step("in no container", "PUT", "/{c}x/b", BLOCK, b"hello"),
    step("absent", "GET", "/{c}/absent"),
    step("absent, head", "HEAD", "/{c}/absent"),
    step("absent, metadata", "PUT", "/{c}/absent?comp=metadata"),
    step("absent, properties", "PUT", "/{c}/absent?comp=properties"),
    step("absent, delete", "DELETE", "/{c}/absent"),
    step("absent container, get", "GET", "/{c}x/b"),
    step("delete", "DELETE", "/{c}/b"),
    step("deleted", "GET", "/{c}/b"),
    put("only if new", "new", b"1", If_None_Match="*"),
    put("only if new, again", "new", b"2", If_None_Match="*"),
    step("overridden headers", "GET", "/{c}/new", {"x-ms-range-get-content-md5": "true", "x-ms-range": "bytes=0-0"}),
    step("MD5 without a range", "GET", "/{c}/new", {"x-ms-range-get-content-md5": "true"}),
    step("an unknown comp", "PUT", "/{c}/new?comp=nothing"),
    step("POST", "POST", "/{c}/new"),
    step("account", "GET", "/{c}/new?restype=account&comp=properties"),
]

RANGES = [
    put("put", body=b"0123456789"),
    *(
        step(r, "GET", "/{c}/b", {"x-ms-range": r})
        for r in (
            "bytes=0-3", "bytes=3-3", "bytes=5-", "bytes=0-100", "bytes=9-9", "bytes=10-10", "bytes=10-", "bytes=100-200",
            "bytes=5-3", "bytes=-3", "bytes=a-b", "0-3", "bytes=0-1,3-4",
        )
    ),
    step("Range", "GET", "/{c}/b", {"Range": "bytes=2-4"}),
    step("both", "GET", "/{c}/b", {"Range": "bytes=2-4", "x-ms-range": "bytes=0-0"}),
]  # fmt: skip

READ_CONDITIONS = [put("put"), *conditions("GET", "/{c}/b")]
HEAD_CONDITIONS = [put("put"), *conditions("HEAD", "/{c}/b")]
WRITE_CONDITIONS = [
    step for row in conditions("PUT", "/{c}/b", b"2", **{k.replace("-", "_"): v for k, v in BLOCK.items()})
    for step in (put("put"), row)
]  # fmt: skip
METADATA_CONDITIONS = [step for row in conditions("PUT", "/{c}/b?comp=metadata") for step in (put("put"), row)]
DELETE_CONDITIONS = [step for row in conditions("DELETE", "/{c}/b") for step in (put("put"), row)]
LIST_CONDITIONS = [
    step for row in conditions("PUT", "/{c}/b?comp=blocklist", blocklist()) for step in (put("put"), row)
]  # fmt: skip
ABSENT_CONDITIONS = [
    put("if-match *, absent", "x1", If_Match="*"),
    put("if-match, absent", "x2", If_Match='"0x1"'),
    put("if-none-match, absent", "x3", If_None_Match='"0x1"'),
    put("if-unmodified-since, absent", "x4", If_Unmodified_Since=EPOCH),
    put("if-modified-since, absent", "x5", If_Modified_Since=LATER),
    step("get if-match, absent", "GET", "/{c}/absent", {"If-Match": "*"}),
    step("get if-none-match, absent", "GET", "/{c}/absent", {"If-None-Match": "*"}),
]

BLOCKS = [
    step("block", "PUT", f"/{{c}}/b?{BLOCKS_OF[0]}", {}, b"one"),
    step("second", "PUT", f"/{{c}}/b?{BLOCKS_OF[1]}", {}, b"two"),
    step("not visible", "HEAD", "/{c}/b"),
    step("uncommitted", "GET", "/{c}/b?comp=blocklist&blocklisttype=uncommitted"),
    step("list with uncommitted", "GET", f"{LIST}&include=uncommittedblobs"),
    step("list without", "GET", LIST),
    step("commit of unknown", "PUT", "/{c}/b?comp=blocklist", {}, blocklist(IDS[2])),
    step("commit", "PUT", "/{c}/b?comp=blocklist", {"x-ms-blob-content-type": "a/b"}, blocklist(IDS[1], IDS[0])),
    step("get", "GET", "/{c}/b"),
    step("committed", "GET", "/{c}/b?comp=blocklist"),
    step("more", "PUT", f"/{{c}}/b?{BLOCKS_OF[2]}", {}, b"three"),
    step("all", "GET", "/{c}/b?comp=blocklist&blocklisttype=all"),
    step("mixed", "PUT", "/{c}/b?comp=blocklist", {}, (
        f"<BlockList><Committed>{IDS[0]}</Committed><Uncommitted>{IDS[2]}</Uncommitted></BlockList>"
    ).encode()),
    step("get the mixed", "GET", "/{c}/b"),
    step("twice the same", "PUT", "/{c}/b?comp=blocklist", {}, blocklist(IDS[0], IDS[0])),
    step("get twice", "GET", "/{c}/b"),
    step("uncommitted that is committed", "PUT", "/{c}/b?comp=blocklist", {}, blocklist(IDS[0], kind="Uncommitted")),
    step("of a shorter id", "PUT", "/{c}/s?comp=block&blockid=MDA%3D", {}, b"x"),
    step("of another length", "PUT", f"/{{c}}/s?{BLOCKS_OF[0]}", {}, b"x"),
    step("no base64", "PUT", "/{c}/b?comp=block&blockid=***", {}, b"x"),
    step("without id", "PUT", "/{c}/b?comp=block", {}, b"x"),
    step("empty block", "PUT", f"/{{c}}/b?{BLOCKS_OF[0]}", {}, b""),
    step("with MD5", "PUT", f"/{{c}}/b?{BLOCKS_OF[0]}", {"Content-MD5": MD5}, b"hello"),
    step("with a wrong MD5", "PUT", f"/{{c}}/b?{BLOCKS_OF[0]}", {"Content-MD5": WRONG_MD5}, b"hello"),
    step("in no container", "PUT", f"/{{c}}x/b?{BLOCKS_OF[0]}", {}, b"x"),
    step("list of no XML", "PUT", "/{c}/b?comp=blocklist", {}, b"no"),
    step("list of nothing", "PUT", "/{c}/b?comp=blocklist", {}, b""),
    step("empty list", "PUT", "/{c}/e?comp=blocklist", {}, blocklist()),
    step("the empty", "HEAD", "/{c}/e"),
    step("list of an absent", "GET", "/{c}/absent?comp=blocklist"),
    step("an unknown kind", "GET", "/{c}/b?comp=blocklist&blocklisttype=some"),
    put("put over blocks", body=b"whole"),
    step("no blocks", "GET", "/{c}/b?comp=blocklist&blocklisttype=all"),
]  # fmt: skip

APPENDS = [
    step("make", "PUT", "/{c}/a", APPEND),
    step("append", "PUT", "/{c}/a?comp=appendblock", {}, b"one"),
    step("again", "PUT", "/{c}/a?comp=appendblock", {}, b"two"),
    step("get", "GET", "/{c}/a"),
    step("head", "HEAD", "/{c}/a"),
    step("at", "PUT", "/{c}/a?comp=appendblock", {"x-ms-blob-condition-appendpos": "6"}, b"three"),
    step("at another", "PUT", "/{c}/a?comp=appendblock", {"x-ms-blob-condition-appendpos": "6"}, b"four"),
    step("too large", "PUT", "/{c}/a?comp=appendblock", {"x-ms-blob-condition-maxsize": "12"}, b"four"),
    step("with MD5", "PUT", "/{c}/a?comp=appendblock", {"Content-MD5": MD5}, b"hello"),
    step("with a wrong MD5", "PUT", "/{c}/a?comp=appendblock", {"Content-MD5": WRONG_MD5}, b"hello"),
    step("nothing", "PUT", "/{c}/a?comp=appendblock", {}, b""),
    step("to an absent", "PUT", "/{c}/absent?comp=appendblock", {}, b"x"),
    step("seal", "PUT", "/{c}/a?comp=seal", {}),
    put("block blob", "b"),
    step("to a block blob", "PUT", "/{c}/b?comp=appendblock", {}, b"x"),
    step("block of an append blob", "PUT", f"/{{c}}/a?{BLOCKS_OF[0]}", {}, b"x"),
    step("block list of it", "GET", "/{c}/a?comp=blocklist"),
    step("only if new", "PUT", "/{c}/a", {**APPEND, "If-None-Match": "*"}),
    step("over it", "PUT", "/{c}/a", APPEND),
    step("get the new", "GET", "/{c}/a"),
    step("with a body", "PUT", "/{c}/w", APPEND, b"body"),
]

LEASE = {"x_ms_lease_duration": "60", "x_ms_proposed_lease_id": LEASES[0]}
BLOB_LEASES = [
    put("put"),
    lease("acquire", "acquire", **LEASE),
    step("leased", "HEAD", "/{c}/b"),
    lease("again", "acquire", **LEASE),
    lease("by another", "acquire", x_ms_lease_duration="15", x_ms_proposed_lease_id=LEASES[1]),
    put("put without"),
    put("put with another", x_ms_lease_id=LEASES[1]),
    put("put with it", x_ms_lease_id=LEASES[0]),
    step("still leased", "HEAD", "/{c}/b"),
    step("metadata without", "PUT", "/{c}/b?comp=metadata"),
    step("properties without", "PUT", "/{c}/b?comp=properties"),
    step("delete without", "DELETE", "/{c}/b"),
    step("read with another", "GET", "/{c}/b", {"x-ms-lease-id": LEASES[1]}),
    step("read with it", "GET", "/{c}/b", {"x-ms-lease-id": LEASES[0]}),
    step("block without", "PUT", f"/{{c}}/b?{BLOCKS_OF[0]}", {}, b"x"),
    step("list without", "PUT", "/{c}/b?comp=blocklist", {}, blocklist()),
    lease("renew by another", "renew", x_ms_lease_id=LEASES[1]),
    lease("renew", "renew", x_ms_lease_id=LEASES[0]),
    lease("change", "change", x_ms_lease_id=LEASES[0], x_ms_proposed_lease_id=LEASES[1]),
    lease("change again", "change", x_ms_lease_id=LEASES[0], x_ms_proposed_lease_id=LEASES[1]),
    lease("release of the old", "release", x_ms_lease_id=LEASES[0]),
    lease("release", "release", x_ms_lease_id=LEASES[1]),
    step("available", "HEAD", "/{c}/b"),
    put("put with one that is gone", x_ms_lease_id=LEASES[1]),
    lease("release again", "release", x_ms_lease_id=LEASES[1]),
    lease("break of none", "break"),
    lease("for ever", "acquire", x_ms_lease_duration="-1", x_ms_proposed_lease_id=LEASES[0]),
    lease("break slowly", "break", x_ms_lease_break_period="30"),
    step("breaking", "HEAD", "/{c}/b"),
    lease("renew of breaking", "renew", x_ms_lease_id=LEASES[0]),
    lease("acquire of breaking", "acquire", x_ms_lease_duration="15", x_ms_proposed_lease_id=LEASES[1]),
    lease("change of breaking", "change", x_ms_lease_id=LEASES[0], x_ms_proposed_lease_id=LEASES[1]),
    lease("break now", "break", x_ms_lease_break_period="0"),
    step("broken", "HEAD", "/{c}/b"),
    lease("renew of broken", "renew", x_ms_lease_id=LEASES[0]),
    lease("break of broken", "break"),
    lease("release of broken", "release", x_ms_lease_id=LEASES[0]),
    lease("acquired once more", "acquire", **LEASE),
    step("delete with it", "DELETE", "/{c}/b", {"x-ms-lease-id": LEASES[0]}),
]

BAD_LEASES = [
    put("put"),
    lease("too short", "acquire", x_ms_lease_duration="14"),
    lease("too long", "acquire", x_ms_lease_duration="61"),
    lease("unknown action", "lend"),
    step("without action", "PUT", "/{c}/b?comp=lease"),
    lease("of an absent", "acquire", "/{c}/absent?comp=lease", x_ms_lease_duration="15"),
    lease("renew of none", "renew", x_ms_lease_id=LEASES[0]),
    lease("change of none", "change", x_ms_lease_id=LEASES[0], x_ms_proposed_lease_id=LEASES[1]),
    lease("renew without id", "renew"),
    lease("without duration", "acquire"),
    lease("of no id", "acquire", x_ms_lease_duration="15", x_ms_proposed_lease_id="mine"),
]

LISTS = [
    *(put(name, name) for name in ("a", "a/1", "a/2", "b", "b/1", "b-1", "%C3%A9", "z%20z")),
    put("with all", "t", x_ms_meta_k="v", x_ms_tags="x=y", x_ms_blob_content_type="text/plain"),
    step("make", "PUT", "/{c}/u", APPEND),
    step("flat", "GET", LIST),
    step("with metadata", "GET", f"{LIST}&include=metadata"),
    step("with tags", "GET", f"{LIST}&include=tags"),
    step("by delimiter", "GET", f"{LIST}&delimiter=/"),
    step("prefix", "GET", f"{LIST}&prefix=a"),
    step("prefix and delimiter", "GET", f"{LIST}&prefix=a/&delimiter=/"),
    step("prefix of none", "GET", f"{LIST}&prefix=nothing"),
    step("two", "GET", f"{LIST}&maxresults=2"),
    step("the next two", "GET", f"{LIST}&maxresults=2&marker={{NextMarker}}"),
    step("two by delimiter", "GET", f"{LIST}&maxresults=2&delimiter=/"),
    step("of none", "GET", f"{LIST}&maxresults=0"),
    step("of too many", "GET", f"{LIST}&maxresults=5001"),
    step("of a negative number", "GET", f"{LIST}&maxresults=-1"),
    step("of unknown things", "GET", f"{LIST}&include=everything"),
    step("of containers", "GET", "/?comp=list&prefix={c}"),
]

TAGS = [
    put("put", x_ms_tags="a=1&b=two%20words"),
    step("head", "HEAD", "/{c}/b"),
    step("get", "GET", "/{c}/b?comp=tags"),
    step("set", "PUT", "/{c}/b?comp=tags", {}, tags(c="3")),
    step("get again", "GET", "/{c}/b?comp=tags"),
    step("none", "PUT", "/{c}/b?comp=tags", {}, tags()),
    step("get none", "GET", "/{c}/b?comp=tags"),
    step("eleven", "PUT", "/{c}/b?comp=tags", {}, tags(**{f"k{i}": "v" for i in range(11)})),
    step("no XML", "PUT", "/{c}/b?comp=tags", {}, b"<Tags>"),
    step("of an absent", "GET", "/{c}/absent?comp=tags"),
    put("bad tags", x_ms_tags="a=*"),
    put("tags in the header", "c", x_ms_tags="k=v"),
    step("if tags", "GET", "/{c}/c", {"x-ms-if-tags": "\"k\" = 'v'"}),
    step("if other tags", "GET", "/{c}/c", {"x-ms-if-tags": "\"k\" = 'w'"}),
    step("find", "GET", f"{C}&comp=blobs&where=%22k%22%3D%27v%27"),
    step("find none", "GET", f"{C}&comp=blobs&where=%22k%22%3D%27w%27"),
    step("find a range", "GET", f"{C}&comp=blobs&where=%22k%22%3E%3D%27u%27%20AND%20%22k%22%3C%27w%27"),
    step("find by no expression", "GET", f"{C}&comp=blobs&where=%22k%22%3Dv"),
    step("find by nothing", "GET", f"{C}&comp=blobs"),
]

TIERS = [
    put("put", x_ms_access_tier="Cool"),
    step("head", "HEAD", "/{c}/b"),
    step("hot", "PUT", "/{c}/b?comp=tier", {"x-ms-access-tier": "Hot"}),
    step("hot, head", "HEAD", "/{c}/b"),
    step("unknown", "PUT", "/{c}/b?comp=tier", {"x-ms-access-tier": "Warm"}),
    step("without", "PUT", "/{c}/b?comp=tier"),
    step("archive", "PUT", "/{c}/b?comp=tier", {"x-ms-access-tier": "Archive"}),
    step("get of an archived", "GET", "/{c}/b"),
    step("head of an archived", "HEAD", "/{c}/b"),
    step("rehydrate", "PUT", "/{c}/b?comp=tier", {"x-ms-access-tier": "Hot"}),
    step("get of a rehydrated", "GET", "/{c}/b"),
    step("archive again", "PUT", "/{c}/b?comp=tier", {"x-ms-access-tier": "Archive"}),
    step("put over an archived", "PUT", "/{c}/b", BLOCK, b"new"),
    step("of an absent", "PUT", "/{c}/absent?comp=tier", {"x-ms-access-tier": "Hot"}),
    step("list", "GET", LIST),
]

SOURCE = {"x-ms-copy-source": "{url}/{c}/b"}
COPIES = [
    put("put", x_ms_meta_k="v", x_ms_blob_content_type="text/plain", x_ms_tags="a=1"),
    step("copy", "PUT", "/{c}/d", SOURCE),
    step("head", "HEAD", "/{c}/d"),
    step("get", "GET", "/{c}/d"),
    step("list with copies", "GET", f"{LIST}&include=copy"),
    step("with metadata", "PUT", "/{c}/m", {**SOURCE, "x-ms-meta-other": "w"}),
    step("head of it", "HEAD", "/{c}/m"),
    # Copy Blob From URL reads what is public or signed alone.
    step("made public", "PUT", "/{c}?restype=container&comp=acl", {"x-ms-blob-public-access": "blob"}),
    step("synchronous", "PUT", "/{c}/s", {**SOURCE, "x-ms-requires-sync": "true"}),
    step("head of s", "HEAD", "/{c}/s"),
    step("made private", "PUT", "/{c}?restype=container&comp=acl"),
    step("of an absent", "PUT", "/{c}/d", {"x-ms-copy-source": "{url}/{c}/absent"}),
    step("out of no container", "PUT", "/{c}/d", {"x-ms-copy-source": "{url}/{c}x/b"}),
    step("into no container", "PUT", "/{c}x/d", SOURCE),
    step("source if match", "PUT", "/{c}/d", {**SOURCE, "x-ms-source-if-match": "{put}"}),
    step("source if other", "PUT", "/{c}/d", {**SOURCE, "x-ms-source-if-match": '"0x1"'}),
    step("source if none match", "PUT", "/{c}/d", {**SOURCE, "x-ms-source-if-none-match": "{put}"}),
    step("only if new", "PUT", "/{c}/d", {**SOURCE, "If-None-Match": "*"}),
    step("only if match", "PUT", "/{c}/d", {**SOURCE, "If-Match": '"0x1"'}),
    step("onto itself", "PUT", "/{c}/b", SOURCE),
    step("abort", "PUT", f"/{{c}}/d?comp=copy&copyid={LEASES[0]}", {"x-ms-copy-action": "abort"}),
    step("of a bad URL", "PUT", "/{c}/d", {"x-ms-copy-source": "nowhere"}),
]

SETTINGS = [
    step("set", "PUT", "/?restype=service&comp=properties", {}, (
        b'<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><HourMetrics><Version>1.0</Version>'
        b"<Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>3</Days>"
        b"</RetentionPolicy></HourMetrics><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins>"
        b"<AllowedMethods>GET</AllowedMethods><AllowedHeaders>x-*</AllowedHeaders><ExposedHeaders>x-*</ExposedHeaders>"
        b"<MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>"
    )),
    step("get", "GET", "/?restype=service&comp=properties"),
    step("no XML", "PUT", "/?restype=service&comp=properties", {}, b"<Storage"),
]  # fmt: skip

PAGES = [step("make", "PUT", "/{c}/p", PAGE)]

ACCESS = [
    put("put"),
    step("without anything", "GET", "/{c}/b", {"Authorization": None}),
    step("with a wrong signature", "GET", "/{c}/b", {"Authorization": "SharedKey devstoreaccount1:AAAA"}),
    step("as another account", "GET", "/{c}/b", {"Authorization": "SharedKey other:AAAA"}),
    step("in words", "GET", "/{c}/b", {"Authorization": "SharedKey"}),
    step("by an unknown scheme", "GET", "/{c}/b", {"Authorization": "Basic AAAA"}),
    step("without anything, put", "PUT", "/{c}/b", {**BLOCK, "Authorization": None}, b"x"),
    step("without a date", "GET", "/{c}/b", {"x-ms-date": None}),
    step("a bad SAS", "GET", "/{c}/b?sv=2020-02-10&sr=b&sp=r&se=2030-01-01T00:00:00Z&sig=AAAA", {"Authorization": None}),
    step("a SAS without sv", "GET", "/{c}/b?sr=b&sp=r&se=2030-01-01T00:00:00Z&sig=AAAA", {"Authorization": None}),
    step("open", "PUT", f"{C}&comp=acl", {"x-ms-blob-public-access": "blob"}),
    step("anonymous", "GET", "/{c}/b", {"Authorization": None}),
    step("anonymous, head", "HEAD", "/{c}/b", {"Authorization": None}),
    step("anonymous list", "GET", LIST, {"Authorization": None}),
    step("anonymous write", "PUT", "/{c}/b", {**BLOCK, "Authorization": None}, b"x"),
    step("open lists", "PUT", f"{C}&comp=acl", {"x-ms-blob-public-access": "container"}),
    step("anonymous, again", "GET", LIST, {"Authorization": None}),
]

STORIES = {
    "service": SERVICE,
    "containers": CONTAINERS,
    "leases of containers": CONTAINER_LEASES,
    "conditions of containers": CONTAINER_CONDITIONS,
    "blobs": BLOBS,
    "ranges": RANGES,
    "conditions of GET": READ_CONDITIONS,
    "conditions of HEAD": HEAD_CONDITIONS,
    "conditions of Put Blob": WRITE_CONDITIONS,
    "conditions of metadata": METADATA_CONDITIONS,
    "conditions of DELETE": DELETE_CONDITIONS,
    "conditions of block lists": LIST_CONDITIONS,
    "conditions of nothing": ABSENT_CONDITIONS,
    "blocks": BLOCKS,
    "append blobs": APPENDS,
    "leases": BLOB_LEASES,
    "bad leases": BAD_LEASES,
    "lists": LISTS,
    "tags": TAGS,
    "tiers": TIERS,
    "copies": COPIES,
    "page blobs": PAGES,
    "access": ACCESS,
    "settings": SETTINGS,
}
