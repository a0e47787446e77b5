# SPDX-License-Identifier: MIT
"""Who may is one table, tried whole: every route of every service (test/rights.tsv), with every role as it is published
(support/published_roles.py), at a scope and elsewhere, and with every other credential: keys, each letter of each kind
of signature, access policies, the token of a task, the cookie of a browser, nothing.

A cell is one request to one daemon. It is made so that whoever may does nothing by it: it names what is not there, or
has a body or header that cannot be. So who may is answered anything but 401 and 403."""

import re
import ssl
import uuid
from datetime import datetime, timedelta
from email.utils import formatdate
from http.client import HTTPSConnection
from types import SimpleNamespace

import pytest
from azure.core.credentials import AccessToken
from azure.storage.blob import BlobServiceClient, generate_account_sas, generate_blob_sas, generate_container_sas
from azure.storage.fileshare import generate_account_sas as generate_files_sas
from azure.storage.fileshare import generate_share_sas
from support import batch, rights
from support.accounts import Accounts
from support.batch import BatchGround
from support.batch_jobs import Job, add_pool
from support.browser import Browser
from support.daemon import Daemon
from support.people import Person
from support.published_roles import ROLES
from support.storage import sign
from support.vaults import Safe, Vaults, policy
from support.waiting import wait_for

LETTERS = "racwdxltmeopfui"
NEVER = "00000000-0000-4000-8000-000000000000"
# 401 and 403 that say nothing of rights: of CORS, and of a page to log in with.
OTHER_REASONS = (b"CorsPreflightFailure", b"The user name or the password is wrong.")
VERSIONS = {
    "arm": "2021-04-01", "authorization": "2022-04-01", "keyvault": "2022-07-01", "storage": "2022-09-01", "vault": "7.4",
    "batchai": "2018-05-01", "batchrm": "2022-10-01",
}  # fmt: skip
TABLE = rights.rows()
MANAGERS = ("arm", "batchai", "batchrm", "storage", "keyvault", "authorization", "graph", "admin", "browse", "batch actions", "session", "metrics")
BY_COOKIE = set(MANAGERS) - {"graph", "metrics"}  # services that take the cookie of a browser, too
OTHERS = ("aad", "health", "page", "azstorage", "testing")


def of(*services):
    return [row for row in TABLE if row.service in services]


class World:
    """A daemon with something of each kind, requests to it, and people with their roles."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.subscription = f"/subscriptions/{daemon.subscription}"
        self.first = daemon.env["AZURE_CLIENT_ID"]
        self.connection = HTTPSConnection("127.0.0.1", daemon.port, context=trusting(daemon), timeout=60)
        self.version = {(r.service, r.method, r.path): r.version for r in rights.routes()}
        self.accounts = Accounts(daemon).make()
        self.account = self.accounts.account()
        self.key = self.accounts.keys(self.account)[0]
        for name, access in (("box", "None"), ("blobs-open", "Blob"), ("all-open", "Container")):
            self.accounts.share(self.account, name, kind="blobs", body={"properties": {"publicAccess": access}})
        self.accounts.share(self.account, "box")
        self.ground = BatchGround(daemon)
        self.vaults = Vaults(daemon).make()
        self.vault = {by_roles: self.vaults.vault(enableRbacAuthorization=by_roles) for by_roles in (True, False)}
        self.people = {name: self.person((name, self.subscription)) for name in ROLES}
        self.people["every role, elsewhere"] = self.person(*((name, self.subscription + "/resourceGroups/other") for name in ROLES))
        self.people["no role"] = self.person()
        self.cells, self.shown = 0, {}

    def person(self, *given):
        person = Person(self.daemon, "none")
        for role, scope in given:
            path = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
            body = {"properties": {"roleDefinitionId": f"/x/roleDefinitions/{self.guid_of(role)}", "principalId": person.id}}
            self.daemon.call("PUT", path, body, api_version="2022-04-01", validate=False, expect=201)
        return SimpleNamespace(login=person.login, id=person.id, grants=rights.Grants(*given), tokens={})

    def guid_of(self, role):
        if not hasattr(self, "guids"):
            path = f"{self.subscription}/providers/Microsoft.Authorization/roleDefinitions"
            listed = self.daemon.call("GET", path, api_version="2022-04-01", validate=False, expect=200).json["value"]
            self.guids = {d["properties"]["roleName"]: d["name"] for d in listed}
        return self.guids[role]

    def token(self, person, resource):
        if resource not in person.tokens:
            reply = person.login(scope=f"{resource}/.default")
            assert reply.status == 200, reply
            person.tokens[resource] = reply.json["access_token"]
        return person.tokens[resource]

    def cookie(self, person, new=False):
        """Headers of a browser in which the person has logged in. `new`: a request with them may log out."""
        if new or "cookie" not in person.tokens:
            browser = Browser(self.daemon, f"127.0.0.1:{self.daemon.port}")
            browser.log_in(token=self.token(person, "https://management.azure.com"))
            person.tokens["cookie"] = {"Cookie": browser.cookie, "Origin": browser.origin, "Sec-Fetch-Site": "same-origin"}
        return person.tokens["cookie"]

    def refused(self, method, path, host=None, headers=None, body=None):
        """One cell: whether the request is refused for who asks."""
        head = {"Host": host or f"127.0.0.1:{self.daemon.port}", "Content-Length": str(len(body or b"")), **(headers or {})}
        self.connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in head.items():
            self.connection.putheader(name, value)
        self.connection.endheaders(body)
        response = self.connection.getresponse()
        text = response.read()
        self.cells += 1
        assert response.status < 500 or response.status == 501, (method, path, response.status, text)
        self.last, self.body = f"{response.status} {text[:300]!r}", text
        return response.status in (401, 403) and not any(reason in text for reason in OTHER_REASONS)


def trusting(daemon):
    """Hosts are said in the requests' heads: one connection is for all."""
    context = ssl.create_default_context(cafile=daemon.ca)
    context.check_hostname = False
    return context


@pytest.fixture(scope="module")
def world():
    with Daemon() as d:
        d.expect_log("login.failed")
        w = World(d)
        yield w
        w.connection.close()
        print(f"{w.cells} cells")


class Wrong(list):
    """Cells that are not as the table has them."""

    def look(self, world, row, who, allowed, refused):
        if allowed == refused:
            self.append(f"{row.service} {row.method} {row.path}, {who}: {'may' if allowed else 'may not'}, but {world.last}")

    def look_at_list(self, world, row, who, person):
        """A list shows what one may read, and nothing else."""
        listed = re.findall(r'"id":\s*"(/subscriptions/[^/"]+/resourceGroups/[^"]+)"', world.body.decode())
        for id in listed:
            provider, kind = id.split("/")[6:8] if "/providers/" in id else (None, None)
            of_all_kinds = row.path.endswith("/resources")
            action = f"{provider}/{kind}/read" if of_all_kinds else row.right.removeprefix("see ")
            if not person.grants.allows(action, id):
                self.append(f"{row.path} shows {who} {id}")
        world.shown[row.path, who] = len(listed)

    def check(self):
        assert not self, f"{len(self)} cells:\n" + "\n".join(self[:40])


# --- the table --------------------------------------------------------------------------------------------------------


def test_each_route_has_a_row_and_each_row_a_route():
    """A new route needs a row that says who may."""
    have = {(row.service, row.method, row.path) for row in TABLE}
    assert len(have) == len(TABLE)
    served = {(r.service, r.method, r.path) for r in rights.routes() if r.service != "batch paths"}
    assert have == served
    # Azure Batch without a host of its own has the same routes, and asks the same of them.
    by_path = {("batch", *r[1:3]) for r in rights.routes() if r.service == "batch paths"}
    assert by_path == {key for key in served if key[0] == "batch"}
    assert {row.service for row in TABLE} == {*MANAGERS, *OTHERS, "batch", "vault", "azblob", "azfiles"}, "each is tried below"


def test_each_role_that_there_is_is_published(world):
    world.guid_of("Owner")
    assert set(world.guids) == set(ROLES)


# --- tokens at the resource manager, its providers, the graph, and our own operations -----------------------------------


def filled(row, world, **values):
    values = {"subscription": world.daemon.subscription, "namespace": "Microsoft.Batch", "location": "eastus", "account": world.ground.name, **values}
    return re.sub(r"\{(\w+)\*?\}", lambda m: values.get(m.group(1), "nosuch"), row.path)


def sent(row, world):
    """Path, scope and body of a row of these services."""
    path = filled(row, world, name=NEVER, id=NEVER)
    if row.service == "authorization":
        path = f"{world.subscription}/resourceGroups/nosuch{path}"
    scope = path if path.startswith("/subscriptions/") and "/resourceGroups/" in path else world.subscription
    if row.service == "authorization":
        scope = path.split("/providers")[0]
    version = world.version[row.service, row.method, row.path]
    version = VERSIONS.get(row.service) if version == "-" else version
    path += f"?api-version={version}" if version else ""
    path += "?since=x" if path.endswith("/events/stream") else ""  # whoever may would wait for its end
    return path, scope, b"{" if row.method in ("PUT", "PATCH", "POST") else None


@pytest.mark.parametrize("service", MANAGERS)
def test_each_role_at_the_resource_manager(world, service):
    wrong = Wrong()
    resource = "https://graph.microsoft.com" if service == "graph" else "https://management.azure.com"
    for row in of(service):
        path, scope, body = sent(row, world)
        head = {"Content-Type": "application/json"}
        for name, person in world.people.items():
            by = {**head, "Authorization": "Bearer " + world.token(person, resource)}
            refused = world.refused(row.method, path, None, by, body)
            wrong.look(world, row, name, person.grants.allows(row.right, scope), refused)
            if row.right.startswith("see ") and not refused:
                wrong.look_at_list(world, row, name, person)
        wrong.look(world, row, "nothing", row.right == "open", world.refused(row.method, path, None, head, body))
        other = {**head, "Authorization": "Bearer " + world.token(world.people["Owner"], "https://storage.azure.com")}
        wrong.look(world, row, "a token for others", row.right == "open", world.refused(row.method, path, None, other, body))
        for name in ("Owner", "Reader", "no role"):
            person, takes = world.people[name], service in BY_COOKIE
            allowed = row.right == "open" or (takes and person.grants.allows(row.right, scope))
            by = {**head, **world.cookie(person, service == "session")}
            wrong.look(world, row, f"{name}'s cookie", allowed, world.refused(row.method, path, None, by, body))
        # Of another port of this host, to which a browser sends the same cookies.
        by = {**by, **world.cookie(world.people["Owner"]), "Origin": "https://127.0.0.1:1", "Sec-Fetch-Site": "same-site"}
        wrong.look(world, row, "another page", row.right == "open", world.refused(row.method, path, None, by, body))
    wrong.check()


def test_lists_are_whole_for_whoever_reads_all(world):
    """So that a list that hides everything from everybody is seen."""
    lists = {path for path, _ in world.shown}
    kinds = ("Microsoft.Storage/storageAccounts", "Microsoft.Batch/batchAccounts", "Microsoft.KeyVault/vaults")
    for end in ("/resourceGroups", "/resources", *(f"/providers/{kind}" for kind in kinds)):
        (path,) = {p for p in lists if p == "/subscriptions/{subscription}" + end}
        assert world.shown[path, "Reader"] == world.shown[path, "Owner"] > 0
        assert world.shown[path, "every role, elsewhere"] == 0
    # A list of all kinds shows whoever may read one kind the resources of that kind.
    contributor, above = "Key Vault Contributor", "/subscriptions/{subscription}"
    vaults = world.shown[f"{above}/providers/Microsoft.KeyVault/vaults", contributor]
    assert world.shown[f"{above}/resources", contributor] == vaults > 0


def test_the_rest_is_open_or_has_keys_of_its_own(world):
    """Logins and health are open; links and what tests ask for are nobody's who only has a token."""
    wrong = Wrong()
    owner = {"Authorization": "Bearer " + world.token(world.people["Owner"], "https://management.azure.com")}
    cookie = world.cookie(world.people["Owner"])
    for row in of(*OTHERS):
        path = filled(row, world, tenant="adfs")
        allowed = {"open": True, "link": False, "testing": True}[row.right]  # testing is off: there is nothing
        for by in ({}, owner, cookie):
            refused = world.refused(row.method, path, None, by, b"" if row.method == "POST" else None)
            wrong.look(world, row, "anybody", allowed, refused)
            if row.right == "testing":
                assert "TestingIsOff" in world.last, (row, world.last)
    wrong.check()


# --- Azure Batch ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def task(world):
    """The token of a task that runs, and its job."""
    plane = world.ground.plane
    add_pool(plane, "pool", targetDedicatedNodes=1)
    job = Job(plane, "pool")
    say = "/bin/sh -c 'echo $AZ_BATCH_AUTHENTICATION_TOKEN > token; sleep 1000'"
    job.add(say, id="t", authenticationTokenSettings={"access": ["job"]})

    def read():
        reply = plane.call("GET", f"{job.url}/tasks/t/files/wd/token", validate=False)
        return reply.status == 200 and reply.content.decode().strip()

    yield SimpleNamespace(token=wait_for(read), job=job)
    job.delete()
    plane.call("DELETE", "/pools/pool", expect=202)


def test_each_role_key_and_task_at_azure_batch(world, task):
    wrong = Wrong()
    plane = world.ground.plane
    scope = f"{world.ground.accounts.path}/{world.ground.name}"
    for row in of("batch"):
        body = b"{" if row.method in ("PUT", "PATCH", "POST") else None
        version = world.version[row.service, row.method, row.path]
        head = {"If-Match": '"0x1"', "ocp-date": formatdate(usegmt=True)}
        if body:
            head["Content-Type"] = "application/json; odata=minimalmetadata"

        def cell(who, allowed, job="nosuch", by=None, more=()):
            path = filled(row, world, key=f"thumbprintAlgorithm=sha1,thumbprint={'0' * 40}", jobId=job)
            given = {**head, **dict(more), **({"Authorization": by} if by else {})}
            if by == "key":
                signed = {**given, "Content-Length": str(len(body or b""))}
                query = [("api-version", version)]
                given["Authorization"] = batch.sign(row.method, path, query, signed, plane.account, plane.key)
            target = f"{path}?api-version={version}"
            wrong.look(world, row, who, allowed, world.refused(row.method, target, urlhost(plane), given, body))

        for name, person in world.people.items():
            allowed = person.grants.allows(row.right, scope)
            cell(name, allowed, by="Bearer " + world.token(person, "https://batch.core.windows.net/"))
        owner = world.people["Owner"]
        cell("a token for the resource manager", True, by="Bearer " + world.token(owner, "https://management.azure.com"))
        cell("a token for storage", False, by="Bearer " + world.token(owner, "https://storage.azure.com"))
        cell("the key", True, by="key")
        cell("nothing", False)
        cell("a cookie", False, more=world.cookie(owner))
        own = row.path.startswith("/jobs/{jobId}")
        cell("a task's token, its job", own, task.job.id, "Bearer " + task.token)
        cell("a task's token, another job", False, by="Bearer " + task.token)
    wrong.check()
    assert task.job.get()["state"] == "active"


def urlhost(plane):
    return plane.url.split("://")[1]


# --- vaults -----------------------------------------------------------------------------------------------------------


def test_each_role_and_policy_at_a_vault(world):
    wrong = Wrong()
    nobody = world.people["no role"]
    safes = {by_roles: Safe(world.daemon, name) for by_roles, name in world.vault.items()}
    bodies = {"PUT": b'{"value": "x"}', "PATCH": b"{}", "POST": b'{"value": "x"}'}

    def cell(row, who, allowed, safe, person, more=()):
        path = filled(row, world) + f"?api-version={VERSIONS['vault']}"
        head = {"Content-Type": "application/json", **dict(more)}
        if person:
            head["Authorization"] = "Bearer " + world.token(person, f"https://vault.{safe.site}")
        wrong.look(world, row, who, allowed, world.refused(row.method, path, safe.host, head, bodies.get(row.method)))

    for row in of("vault"):
        scope = world.vaults.get(world.vault[True])["id"]
        for name, person in world.people.items():
            cell(row, name, person.grants.allows(row.right, scope), safes[True], person)
            cell(row, f"{name}, of no policy", False, safes[False], person)
        cell(row, "nothing", False, safes[True], None)
        cell(row, "a cookie", False, safes[True], None, world.cookie(world.people["Key Vault Administrator"]))
    for permission in sorted({row.resource for row in of("vault")}):
        change = {"properties": {"accessPolicies": [policy(nobody.id, secrets=[permission])]}}
        world.vaults.call("PATCH", f"/vaults/{world.vault[False]}", change, expect=200)
        for row in of("vault"):
            cell(row, f"the policy {permission}", row.resource == permission, safes[False], nobody)
    wrong.check()


# --- blobs and files --------------------------------------------------------------------------------------------------


class Store:
    """Requests to one of the two planes."""

    def __init__(self, world, service):
        self.world, self.kind = world, service.removeprefix("az").rstrip("s")
        self.host = f"{world.account}.{self.kind}.core.localhost"
        provider = "blobServices/default/containers" if self.kind == "blob" else "fileServices/default/fileshares"
        self.scope = f"{world.accounts.path}/{world.account}/{provider}"

    def request(self, row, share=None):
        """Path and share of a row: what is in a share is looked for in one that is there; shares are not there, and
        have a name that none can have."""
        template, _, query = row.path.partition("?")
        inside = "{path*}" in template
        share = share or ("box" if inside else "a")
        path = re.sub(r"\{(container|share)\}", share, template).replace("{path*}", "no/such")
        query = "&".join(q for q in query.split("&") if q and not q.endswith("="))
        return path + (f"?{query}" if query else ""), share if template != "/" else ""

    def refused(self, row, sas=None, by=None, share=None, more=()):
        path, _ = self.request(row, share)
        if sas:
            path += ("&" if "?" in path else "?") + sas
        head = {"x-ms-version": "2021-12-02", "x-ms-date": formatdate(usegmt=True), "x-ms-file-request-intent": "backup"}
        body = b"<" if row.method in ("PUT", "POST") else None
        if "userdelegationkey" in path:
            body = b"<KeyInfo/>"  # who may is looked at behind the body there
        head |= {"Content-Length": str(len(body or b"")), "x-ms-blob-type": "None", "x-ms-lease-action": "None", **dict(more)}
        if by == "key":
            head["Authorization"] = sign(row.method, path, head, self.world.key, self.world.account)
        elif by:
            head["Authorization"] = "Bearer " + by
        return self.world.refused(row.method, path, self.host, head, body)


def has_one(letters, given):
    return letters != "-" and any(letter in letters for letter in given)


@pytest.mark.parametrize("service", ["azblob", "azfiles"])
def test_each_role_and_key_at_a_storage_account(world, service):
    wrong, store = Wrong(), Store(world, service)
    for row in of(service):
        _, share = store.request(row)
        for name, person in world.people.items():
            by = world.token(person, "https://storage.azure.com")
            allowed = person.grants.allows(row.right, f"{store.scope}/{share}")
            wrong.look(world, row, name, allowed, store.refused(row, by=by))
        # A key gets no key to delegate with: that is for logins.
        wrong.look(world, row, "the key", "generateUserDelegationKey" not in row.right, store.refused(row, by="key"))
        owner = world.people["Storage Blob Data Owner"]
        for resource in ("https://management.azure.com", f"https://other.{store.kind}.core.windows.net"):
            by = world.token(owner, resource)
            wrong.look(world, row, f"a token for {resource}", row.right == "open", store.refused(row, by=by))
        refused = store.refused(row, more=world.cookie(owner))
        wrong.look(world, row, "a cookie", row.right == "open", refused)
        levels = {"blobs-open": ("blob",), "all-open": ("blob", "container")} if service == "azblob" else {}
        for share, public in {"box": (), **levels}.items():
            allowed = row.right == "open" or row.public in public
            wrong.look(world, row, f"nothing, {share}", allowed, store.refused(row, share=share))
    wrong.check()


@pytest.mark.parametrize("service", ["azblob", "azfiles"])
def test_each_letter_of_each_signature(world, service):
    wrong, store = Wrong(), Store(world, service)
    until = {"expiry": datetime.utcnow() + timedelta(hours=1)}
    whose = {"account_name": world.account, "account_key": world.key}
    ours, others = generate_account_sas, generate_files_sas
    if service == "azfiles":
        ours, others = others, ours
    of_account = {x: ours(**whose, resource_types="sco", permission=x, **until) for x in LETTERS}
    of_types = {t: ours(**whose, resource_types=t, permission=LETTERS, **until) for t in "sco"}
    of_other = others(**whose, resource_types="sco", permission=LETTERS, **until)
    make = generate_container_sas if service == "azblob" else generate_share_sas
    name = "container_name" if service == "azblob" else "share_name"
    of_share = {(s, x): make(**whose, **{name: s}, permission=x, **until) for s in ("a", "box") for x in LETTERS}
    of_blob = generate_blob_sas(**whose, container_name="box", blob_name="no/such", permission=LETTERS, **until)
    for row in of(service):
        _, share = store.request(row)
        is_open = row.right == "open"
        for x in LETTERS:
            allowed = is_open or has_one(row.account, x)
            wrong.look(world, row, f"the account's {x}", allowed, store.refused(row, of_account[x]))
            allowed = is_open or (bool(share) and has_one(row.container, x))
            wrong.look(world, row, f"the share's {x}", allowed, store.refused(row, of_share[share or "box", x]))
        for t in "sco":
            allowed = is_open or (row.account != "-" and row.resource == t)
            wrong.look(world, row, f"the account's for {t}", allowed, store.refused(row, of_types[t]))
        wrong.look(world, row, "the account's for the other service", is_open, store.refused(row, of_other))
        other = "box" if share == "a" else "a"
        wrong.look(world, row, "another share's", is_open, store.refused(row, of_share[other, "r"]))
        if service == "azblob":
            allowed = is_open or (row.resource == "o" and row.container != "-")
            wrong.look(world, row, "the blob's", allowed, store.refused(row, of_blob))
    wrong.check()


def test_a_delegated_signature_says_no_more_than_its_signer_may(world):
    """A letter counts where its signer's role does."""
    wrong, store = Wrong(), Store(world, "azblob")
    begin, end = datetime.utcnow() - timedelta(minutes=1), datetime.utcnow() + timedelta(hours=1)
    for name in ("Storage Blob Data Reader", "Storage Blob Data Contributor", "Storage Blob Data Owner"):
        person = world.people[name]
        key = delegation_key(world, store, person, begin, end)
        signed = {"account_name": world.account, "user_delegation_key": key, "expiry": end}
        for row in of("azblob"):
            _, share = store.request(row)
            may = person.grants.allows(row.right, f"{store.scope}/{share}")
            for x in LETTERS if share else "":
                sas = generate_container_sas(**signed, container_name=share, permission=x)
                allowed = row.right == "open" or (may and has_one(row.container, x))
                wrong.look(world, row, f"{name}'s {x}", allowed, store.refused(row, sas))
    wrong.check()


def delegation_key(world, store, person, begin, end):
    token = world.token(person, "https://storage.azure.com")
    login = SimpleNamespace(get_token=lambda *_, **__: AccessToken(token, int(end.timestamp())))
    url = f"https://{store.host}:{world.daemon.port}"
    return BlobServiceClient(url, credential=login, connection_verify=world.daemon.ca).get_user_delegation_key(begin, end)
