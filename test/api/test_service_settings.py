# SPDX-License-Identifier: MIT
"""Settings of the blob and the file service: what is set is shown again, and the rest stays."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import (
    BlobAnalyticsLogging,
    CorsRule,
    Metrics,
    RetentionPolicy,
    StaticWebsite,
    generate_account_sas,
)
from azure.storage.fileshare import CorsRule as FileCorsRule
from azure.storage.fileshare import Metrics as FileMetrics
from azure.storage.fileshare import RetentionPolicy as FileRetention
from azure.storage.fileshare import ShareProtocolSettings, ShareServiceClient, ShareSmbSettings, SmbMultichannel
from support.accounts import Accounts
from support.blobs import client, daemon  # noqa: F401 fixtures
from support.storage import ACCOUNT, KEY, StorageDaemon
from support.two_parts import TwoParts

SERVICE = "/?restype=service&comp=properties"


def document(inside):
    text = f"<StorageServiceProperties>{inside}</StorageServiceProperties>"
    return f'<?xml version="1.0" encoding="utf-8"?>{text}'.encode()


def test_what_is_set_of_the_blob_service_is_shown(client):
    client.set_service_properties(
        analytics_logging=BlobAnalyticsLogging(read=True, retention_policy=RetentionPolicy(enabled=True, days=3)),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(enabled=True, days=5)),
        cors=[CorsRule(["https://a.example", "b"], ["GET", "PUT"], allowed_headers=["x-ms-*"], max_age_in_seconds=60)],
        target_version="2019-02-02",
        delete_retention_policy=RetentionPolicy(enabled=True, days=7),
        static_website=StaticWebsite(enabled=True, index_document="index.html"),
    )
    shown = client.get_service_properties()
    assert shown["analytics_logging"].read and not shown["analytics_logging"].write
    assert shown["analytics_logging"].retention_policy.days == 3
    assert shown["hour_metrics"].include_apis and shown["hour_metrics"].retention_policy.days == 5
    assert not shown["minute_metrics"].enabled
    (rule,) = shown["cors"]
    assert (rule.allowed_origins, rule.allowed_methods) == ("https://a.example,b", "GET,PUT")
    assert (rule.allowed_headers, rule.exposed_headers, rule.max_age_in_seconds) == ("x-ms-*", "", 60)
    assert shown["target_version"] == "2019-02-02"
    assert shown["delete_retention_policy"].enabled and shown["delete_retention_policy"].days == 7
    assert shown["static_website"].index_document == "index.html"
    # What a document leaves out stays.
    client.set_service_properties(cors=[])
    shown = client.get_service_properties()
    assert shown["cors"] == [] and shown["delete_retention_policy"].days == 7
    assert shown["static_website"].enabled and shown["analytics_logging"].read
    client.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=False))


def test_what_is_set_of_the_file_service_is_shown(daemon):
    client = ShareServiceClient(daemon.file.url, credential=KEY)
    client.set_service_properties(
        hour_metrics=FileMetrics(
            enabled=True, include_apis=False, retention_policy=FileRetention(enabled=True, days=2)
        ),
        cors=[FileCorsRule(["*"], ["GET"], exposed_headers=["x-ms-meta-a", "b"], max_age_in_seconds=5)],
        protocol=ShareProtocolSettings(smb=ShareSmbSettings(multichannel=SmbMultichannel(enabled=True))),
    )
    shown = client.get_service_properties()
    assert shown["hour_metrics"].enabled and shown["hour_metrics"].retention_policy.days == 2
    assert shown["cors"][0].exposed_headers == "x-ms-meta-a,b"
    assert shown["protocol"].smb.multichannel.enabled
    assert daemon.blob.call("GET", SERVICE).body.count(b"Multichannel") == 0


RETENTION = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>"
RULE = (
    "<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>{}</AllowedMethods><AllowedHeaders />"
    "<ExposedHeaders /><MaxAgeInSeconds>{}</MaxAgeInSeconds></CorsRule>"
)


@pytest.mark.parametrize(
    "inside, code",
    [
        ("<Sweets/>", "UnsupportedXmlNode"),
        ("<Cors><Rule/></Cors>", "UnsupportedXmlNode"),
        ("<DeleteRetentionPolicy><Enabled>perhaps</Enabled></DeleteRetentionPolicy>", "InvalidXmlNodeValue"),
        ("<DeleteRetentionPolicy><Days>3</Days></DeleteRetentionPolicy>", "MissingRequiredXmlNode"),
        ("<DeleteRetentionPolicy><Enabled>true</Enabled></DeleteRetentionPolicy>", "MissingRequiredXmlNode"),
        ("<DeleteRetentionPolicy><Enabled>true</Enabled><Days>0</Days></DeleteRetentionPolicy>", "InvalidXmlNodeValue"),
        (
            "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>366</Days></DeleteRetentionPolicy>",
            "InvalidXmlNodeValue",
        ),
        (f"<HourMetrics><Enabled>false</Enabled>{RETENTION}</HourMetrics>", "MissingRequiredXmlNode"),
        (
            f"<HourMetrics><Version>9</Version><Enabled>false</Enabled>{RETENTION}</HourMetrics>",
            "InvalidXmlNodeValue",
        ),
        (f"<Cors>{RULE.format('GET', '-1')}</Cors>", "InvalidXmlNodeValue"),
        (f"<Cors>{RULE.format('GET,DANCE', '1')}</Cors>", "InvalidXmlNodeValue"),
        (f"<Cors>{RULE.format('GET', '1') * 6}</Cors>", "InvalidXmlDocument"),
        ("<ProtocolSettings/>", "UnsupportedXmlNode"),
    ],
)
def test_what_cannot_be_set_changes_nothing(daemon, inside, code):
    before = daemon.blob.call("GET", SERVICE).body
    got = daemon.blob.call("PUT", SERVICE, document(inside), Content_Type="application/xml")
    assert (got.status, got.code) == (400, code), got
    assert daemon.blob.call("GET", SERVICE).body == before


@pytest.mark.parametrize("body", [b"<Other/>", b"<Storage", b""])
def test_what_is_no_such_document_is_refused(daemon, body):
    got = daemon.blob.call("PUT", SERVICE, body, Content_Type="application/xml")
    assert (got.status, got.code) == (400, "InvalidXmlDocument")


def test_the_resource_manager_has_the_same_settings(daemon, client):
    accounts, settings = Accounts(daemon, group="batchaid-implicit"), f"/{ACCOUNT}/blobServices/default"
    client.set_service_properties(
        minute_metrics=Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(enabled=True, days=1)),
        cors=[CorsRule(["*"], ["GET"])],
    )
    shown = accounts.call("GET", settings, expect=200).json["properties"]
    (rule,) = shown["cors"]["corsRules"]
    assert (rule["allowedOrigins"], rule["maxAgeInSeconds"]) == (["*"], 0)
    rules = [{**rule, "allowedOrigins": ["a", "b"]}]
    body = {"cors": {"corsRules": rules}, "defaultServiceVersion": "2020-02-10"}
    accounts.call("PUT", settings, {"properties": body}, expect=200)
    shown = client.get_service_properties()
    assert shown["cors"][0].allowed_origins == "a,b" and shown["target_version"] == "2020-02-10"
    assert shown["minute_metrics"].enabled


def test_settings_need_the_account(daemon, client):
    body = document("<Cors />")
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    for types, permissions, status in (("s", "w", 202), ("c", "w", 403), ("s", "r", 403)):
        query = generate_account_sas(ACCOUNT, KEY, types, permissions, until)
        got = daemon.blob.call("PUT", f"{SERVICE}&{query}", body, signed=False, Content_Type="application/xml")
        assert got.status == status, got
    assert daemon.blob.call("PUT", SERVICE, body, signed=False).status == 401


@pytest.fixture
def shared(client, daemon):
    client.set_service_properties(
        cors=[
            CorsRule(["https://a.example"], ["GET", "PUT"], allowed_headers=["x-ms-meta-*", "content-type"],
                     exposed_headers=["ETag", "x-ms-meta-*"], max_age_in_seconds=60),
            CorsRule(["*"], ["HEAD"]),
        ]
    )
    daemon.blob.call("PUT", "/cors?restype=container")
    daemon.blob.call("PUT", "/cors/b", b"x", x_ms_blob_type="BlockBlob", x_ms_meta_a="1", x_ms_meta_b="2")
    yield
    daemon.blob.call("DELETE", "/cors?restype=container")
    client.set_service_properties(cors=[])


def preflight(plane, origin="https://a.example", method="GET", headers=None, path="/cors/b?comp=metadata"):
    return plane.call("OPTIONS", path, signed=False, Origin=origin, Access_Control_Request_Method=method,
                      Access_Control_Request_Headers=headers)


def test_a_browser_is_told_what_a_page_may(daemon, shared):
    got = preflight(daemon.blob, headers="x-ms-meta-a, Content-Type")
    assert got.status == 200 and got.body == b""
    assert got.headers["Access-Control-Allow-Origin"] == "https://a.example"
    assert got.headers["Access-Control-Allow-Methods"] == "GET"
    assert got.headers["Access-Control-Allow-Headers"] == "x-ms-meta-a, Content-Type"
    assert (got.headers["Access-Control-Max-Age"], got.headers["Vary"]) == ("60", "Origin")
    assert preflight(daemon.blob, "https://any.example", "HEAD").status == 200
    for path in ("/", "/cors", "/cors/a/b"):
        assert preflight(daemon.blob, path=path).status == 200, path
    for wrong in ({"origin": "https://b.example"}, {"method": "DELETE"}, {"headers": "x-ms-date"}):
        refused = preflight(daemon.blob, **wrong)
        assert (refused.status, refused.code) == (403, "CorsPreflightFailure"), wrong
        assert refused.headers["Access-Control-Allow-Origin"] is None
    assert preflight(daemon.file, method="PUT").code == "CorsPreflightFailure"
    assert preflight(daemon.blob, origin=None).code == "MissingRequiredHeader"


def test_a_page_sees_what_its_rule_lets_it_see(daemon, shared):
    got = daemon.blob.call("GET", "/cors/b", Origin="https://a.example")
    assert (got.body, got.headers["Access-Control-Allow-Origin"]) == (b"x", "https://a.example")
    assert set(got.headers["Access-Control-Expose-Headers"].split(",")) == {"ETag", "x-ms-meta-a", "x-ms-meta-b"}
    missing = daemon.blob.call("GET", "/cors/none", Origin="https://a.example")
    assert (missing.status, missing.headers["Access-Control-Allow-Origin"]) == (404, "https://a.example")
    for origin in (None, "https://b.example"):
        got = daemon.blob.call("GET", "/cors/b", Origin=origin).headers
        assert (got["Access-Control-Allow-Origin"], got["Vary"]) == (None, "Origin")


def test_a_rule_for_all_origins_says_so_and_knows_nobody(daemon, shared):
    for origin in (None, "https://any.example"):
        got = daemon.blob.call("HEAD", "/cors/b", Origin=origin).headers
        assert got["Access-Control-Allow-Origin"] == "*", origin
        assert (got["Access-Control-Allow-Credentials"], got["Vary"]) == (None, None)
    got = preflight(daemon.blob, "https://any.example", "HEAD").headers
    assert (got["Access-Control-Allow-Origin"], got["Access-Control-Allow-Credentials"]) == ("*", None)
    assert got["Access-Control-Allow-Methods"] == "HEAD"


def test_settings_that_arrive_after_the_end_of_their_account_are_refused():
    settings = document("<Cors/>")
    with StorageDaemon() as d:
        late = TwoParts(d.blob, "PUT", SERVICE, len(settings))
        path = f"/subscriptions/{d.subscription}/providers/Microsoft.Storage/storageAccounts"
        (account,) = d.call("GET", path, api_version="2018-07-01", expect=200).json["value"]
        d.call("DELETE", account["id"], api_version="2018-07-01", expect=200)
        got = late.send(settings)
        assert (got.status, got.code) == (404, "ResourceNotFound") and ACCOUNT.encode() in got.body
