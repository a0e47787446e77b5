# SPDX-License-Identifier: MIT
"""POST /batchaid/reload: what changes, and files that are wrong. test_daemon_reload.py has the command."""


def reload(d, **more):
    return d.call("POST", "/batchaid/reload", api_version=None, **more)


def test_settings_of_the_server_and_of_accounts_change_while_it_serves(own_daemon):
    d = own_daemon(config={"quota": {"cores": 100}})
    d.config = {"quota": {"cores": 7}, "auth": {"token_lifetime_s": 61}, "local": {"nodes": 3}}
    d.write_config()
    assert reload(d, expect=200).json == {
        "machines": {"added": [], "removed": [], "changed": []},
        "settings": ["auth.token_lifetime_s", "quota.cores"],
        "afterRestart": ["local.nodes"],
    }
    usages = d.call("GET", f"/subscriptions/{d.subscription}/providers/Microsoft.BatchAI/locations/eastus/usages")
    assert {u["limit"] for u in usages.json["value"] if "vCPUs" in u["name"]["value"]} == {7}, usages.json


def test_a_wrong_file_is_a_conflict_with_its_line(own_daemon):
    d = own_daemon(config={})
    d.expect_log("daemon.not_reloaded")
    (d.dir / "batchaid.yaml").write_text("log:\n  level: loud\n")
    error = reload(d, expect=409).json["error"]
    assert error["code"] == "Conflict" and error["message"].startswith("Nothing has changed: ")
    assert "batchaid.yaml:2: log.level: 'loud'" in error["message"]


def scrape(d, token, expect=200):
    d.call("GET", "/metrics", api_version=None, token=token, expect=expect)


def test_a_new_token_of_metrics_holds_and_the_old_one_no_longer(own_daemon, tmp_path):
    old, new = "old-" + 28 * "o", "new-" + 28 * "n"
    file = tmp_path / "token"
    file.write_text(old)
    file.chmod(0o600)
    d = own_daemon(config={"metrics": {"token_file": str(file)}})
    scrape(d, old)
    file.write_text(new)
    assert reload(d, expect=200).json["settings"] == []
    scrape(d, new)
    scrape(d, old, expect=401)
    d.expect_log("daemon.not_reloaded")
    file.write_text("short")
    assert "has 5 characters" in reload(d, expect=409).json["error"]["message"]
    scrape(d, new)


def test_networks_that_may_read_metrics_change_while_it_serves(own_daemon):
    d = own_daemon(config={"metrics": {"networks": ["10.9.0.0/16"]}})
    scrape(d, None, expect=401)
    d.config = {"metrics": {"networks": ["127.0.0.0/8", "::1"]}}
    d.write_config()
    assert reload(d, expect=200).json["settings"] == ["metrics.networks"]
    scrape(d, None)


def test_newer_versions_are_refused_again_where_they_were_served_before(own_daemon):
    d = own_daemon(config={"compat": {"newer_versions": True}})
    usages = f"/subscriptions/{d.subscription}/providers/Microsoft.BatchAI/locations/eastus/usages"
    d.call("GET", usages, api_version="2099-01-01", validate=False, expect=200)
    d.config = {"compat": {"newer_versions": False}}
    d.write_config()
    assert reload(d, expect=200).json["settings"] == ["compat.newer_versions"]
    assert d.call("GET", usages, api_version="2099-01-01").code == "NoRegisteredProviderFound"
