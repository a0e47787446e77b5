# SPDX-License-Identifier: MIT
"""The machines of a configuration: what `hosts` stands for, what a daemon needs of each, and what is
said of an inventory that is wrong."""
import json
import os
import pwd

import pytest
import yaml


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_text("not looked into before it is used\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def check(run, tmp_path):
    """check(configuration, options...) -> the finished `batchaid check-config`"""

    def call(configuration, *options):
        text = configuration if isinstance(configuration, str) else yaml.safe_dump(configuration)
        (tmp_path / "c.yaml").write_text(text)
        return run("check-config", *options, "c.yaml")

    return call


@pytest.fixture
def machines(check, key):
    """machines(hosts, more...) -> what check-config --json says of an inventory of these"""

    def call(hosts, **more):
        entry = {"hosts": hosts, "user": "me", "identity": str(key), **more}
        done = check({"inventory": [entry]}, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["machines"]

    return call


@pytest.mark.parametrize("hosts, names", [
    ("gpu01", ["gpu01"]),
    ("a,b , c", ["a", "b", "c"]),
    ("gpu[1-3]", ["gpu1", "gpu2", "gpu3"]),
    ("gpu[08-11].rack1", ["gpu08.rack1", "gpu09.rack1", "gpu10.rack1", "gpu11.rack1"]),
    ("gpu[001-002]", ["gpu001", "gpu002"]),
    ("n[98-101]", ["n98", "n99", "n100", "n101"]),
    ("n[098-101]", ["n098", "n099", "n100", "n101"]),
    ("n[5]", ["n5"]),
    ("n[1-2,05,7-8]x", ["n1x", "n2x", "n05x", "n7x", "n8x"]),
    ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
    ("[1-2].rack", ["1.rack", "2.rack"]),
    ("a[1-2],b[1-2]", ["a1", "a2", "b1", "b2"]),
    ("10.0.0.[9-11]", ["10.0.0.9", "10.0.0.10", "10.0.0.11"]),
    ("a:22,b:2222", ["a", "b:2222"]),
    ("127.0.0.1:22[01-03]", ["127.0.0.1:2201", "127.0.0.1:2202", "127.0.0.1:2203"]),
    ("fd00::1", ["fd00::1"]),
    ("FD00:0:0::0001", ["fd00::1"]),
    ("[fd00::1]", ["fd00::1"]),
    ("[fd00::1]:2222,[fd00::2]:22", ["[fd00::1]:2222", "fd00::2"]),
    ("fd00::[1-2]", ["fd00::1", "fd00::2"]),
    ("[fd00::1]:2[1-2]", ["[fd00::1]:21", "fd00::1"]),
    ("A_b-c.D", ["A_b-c.D"]),
    (["a[1-2]", "b,c"], ["a1", "a2", "b", "c"]),
])
def test_what_hosts_stands_for(machines, hosts, names):
    assert [m["name"] for m in machines(hosts)] == names


def test_host_and_port_are_what_is_connected_to(machines):
    found = [(m["host"], m["port"]) for m in machines("a,b:2222,10.0.0.1:1,fd00::1,[fd00::2]:65535")]
    assert found == [("a", 22), ("b", 2222), ("10.0.0.1", 1), ("fd00::1", 22), ("fd00::2", 65535)]


def test_ten_thousand_machines_are_not_too_many(machines):
    assert len(machines("n[0-9999]")) == 10000


@pytest.mark.parametrize("hosts, says", [
    ("", "'' names no machine; write HOST, HOST:PORT, IPv6 or [IPv6]:PORT"),
    ("a,,b", "'' names no machine; write HOST, HOST:PORT, IPv6 or [IPv6]:PORT"),
    ("a,", "'' names no machine; write HOST, HOST:PORT, IPv6 or [IPv6]:PORT"),
    (":22", "':22' names no machine; write HOST, HOST:PORT, IPv6 or [IPv6]:PORT"),
    ("-oProxyCommand=x", "'-oProxyCommand=x' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("-a", "'-a' is not a valid host name; begin it with a letter or digit"),
    (".a", "'.a' is not a valid host name; begin it with a letter or digit"),
    ("a b", "'a b' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("a;reboot", "'a;reboot' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("$(id)", "'$(id)' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("me@a", "'me@a' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("gpü", "'gpü' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("10.0.0.256", "'10.0.0.256' is not a valid IPv4 address; write four numbers from 0 to 255"),
    ("10.0.[0-1]", "'10.0.0' is not a valid IPv4 address; write four numbers from 0 to 255"),
    ("fd00::g", "'fd00::g' is not a valid IPv6 address; write it as in fd00::1 or [fd00::1]:2222"),
    ("[fd00::1]2222", "'[fd00::1]2222' has text after its ]; only :PORT may follow"),
    ("[fd00::1", "'[fd00::1' has a [ without its ]"),
    ("a:0", "'a:0' has no port after the colon; use 1 to 65535"),
    ("a:65536", "'a:65536' has no port after the colon; use 1 to 65535"),
    ("a:ssh", "'a:ssh' has no port after the colon; use 1 to 65535"),
    ("a:", "'a:' has no port after the colon; use 1 to 65535"),
    ("a[1-3", "'a[1-3' has a [ without its ]"),
    ("a1]", "'a1]' is not a valid host name; use letters, digits, '.', '_' and '-'"),
    ("a[]", "'a[]': [] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[1-]", "'a[1-]': [1-] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[-2]", "'a[-2]': [-2] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[1-2-3]", "'a[1-2-3]': [1-2-3] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[1,x]", "'a[1,x]': [x] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[1,,2]", "'a[1,,2]': [] is neither a number nor a range; write it as in [01-16,20]"),
    ("a[3-1]", "'a[3-1]': [3-1] is in descending order; write the smaller number first"),
    ("a[1-016]", "'a[1-016]': [1-016] has ends of different length; write both with the same zeros"),
    ("a[0-9999999999]", "'a[0-9999999999]': [0-9999999999] has a number of more than 9 digits"),
    ("a[0-10000]", "there are more than 10000 machines"),
    ("a[0-999999999]", "there are more than 10000 machines"),
    ("a[0-99]b[0-99],c", "there are more than 10000 machines"),
    ("a[1-2],a2", "a2 is listed twice"),
    ("gpu1,GPU1", "GPU1 is listed twice"),
    ("fd00::1,fd00:0::1", "fd00::1 is listed twice"),
    ("a:22,a", "a is listed twice"),
])
def test_wrong_hosts(check, key, hosts, says):
    quoted = json.dumps(hosts, ensure_ascii=False)
    done = check(f"inventory:\n- identity: {key}\n  hosts: {quoted}\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"batchaid: c.yaml:3: inventory[0].hosts: {says}\n"


def test_a_wrong_name_is_named_with_its_line_in_the_list(check):
    done = check("inventory:\n- user: me\n  hosts:\n  - a\n  - b c\n  agent_socket: /x\n")
    assert done.stderr == ("batchaid: c.yaml:5: inventory[0].hosts[1]: 'b c' is not a valid host name; use "
                           "letters, digits, '.', '_' and '-'\n")


def test_a_machine_in_two_entries_is_refused_naming_both(check):
    done = check("inventory:\n- hosts: a[1-3]\n  agent_socket: /x\n- agent_socket: /x\n  hosts: b,a2\n")
    assert (done.returncode, done.stderr) == (
        1, "batchaid: c.yaml:5: inventory[1].hosts: a2 is in inventory[0].hosts (line 2) too; a "
           "machine may be in one entry only\n")


def test_the_bound_counts_all_entries(check):
    done = check("inventory:\n- hosts: a[1-6000]\n  agent_socket: /x\n"
                 "- hosts: b[1-6000]\n  agent_socket: /x\n")
    assert done.stderr == ("batchaid: c.yaml:4: inventory[1].hosts: there are more than 10000 "
                           "machines\n")


# --- the rest of an entry ------------------------------------------------------------------------


def test_what_is_not_said_has_a_default(machines):
    own = pwd.getpwuid(os.geteuid()).pw_name
    assert machines("a", user="") == [{
        "name": "a", "host": "a", "port": 22, "user": own, "vmSizes": [], "priority": "dedicated",
        "become": None, "nodeRoot": "/mnt/batch/tasks/shared/LS_root", "jobUser": None}]


@pytest.mark.parametrize("given, means", [
    ("sudo", "sudo -n"), ("none", None), ("sudo -n -u root", "sudo -n -u root"), ("doas", "doas")])
def test_how_root_is_reached(machines, given, means):
    assert machines("a", become=given)[0]["become"] == means


def test_vm_sizes_do_not_care_for_case(machines):
    assert machines("a", vm_sizes=["Standard_NC6", "x"])[0]["vmSizes"] == ["STANDARD_NC6", "X"]


def test_machines_as_a_table(check, key):
    done = check({"inventory": [
        {"hosts": "gpu[09-10].rack1", "user": "batchai", "identity": str(key), "become": "sudo",
         "vm_sizes": ["STANDARD_NC6", "STANDARD_D2"]},
        {"hosts": "[fd00::1]:2222", "user": "me", "identity": str(key), "priority": "lowpriority"}]})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == """c.yaml: ok

MACHINE         USER     VM SIZES                  PRIORITY     BECOME
gpu09.rack1     batchai  STANDARD_NC6,STANDARD_D2  dedicated    sudo -n
gpu10.rack1     batchai  STANDARD_NC6,STANDARD_D2  dedicated    sudo -n
[fd00::1]:2222  me       any                       lowpriority  none
"""


def test_json_without_an_inventory(check):
    assert json.loads(check("", "--json").stdout) == {"file": "c.yaml", "machines": []}


def entry(**more):
    return {"inventory": [{"hosts": "a", "user": "me", **more}]}


def test_without_any_login_the_key_of_the_state_directory_is_used(check, run, tmp_path):
    done = check(entry(), "--state-dir", "state")
    assert done.returncode == 1
    assert f"there is no key {tmp_path}/state/id_ed25519; make it with: batchaid keygen" in done.stderr
    assert run("keygen", "--state-dir", "state").returncode == 0
    assert check(entry(), "--state-dir", "state").returncode == 0


def test_the_public_half_of_a_key_is_no_identity(check, run, tmp_path):
    assert run("keygen", str(tmp_path / "key")).returncode == 0
    done = check(entry(identity=str(tmp_path / "key.pub")))
    assert done.returncode == 1
    assert "name the private one, without .pub" in done.stderr


@pytest.mark.parametrize("setting", ["identity", "password_file"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o644])
def test_secrets_that_others_can_touch_are_refused(check, tmp_path, setting, mode):
    path = tmp_path / "secret"
    path.write_text("hunter2\n")
    path.chmod(mode)
    done = check(entry(**{setting: str(path)}))
    assert done.returncode == 1 and "hunter2" not in done.stderr
    assert done.stderr.endswith(f": inventory[0].{setting}: {path} is open to others (mode 0{mode:o});"
                                f" close it with: chmod 600 {path}\n")
    path.chmod(0o600)
    assert check(entry(**{setting: str(path)})).returncode == 0


@pytest.mark.parametrize("text, says", [
    ("", "is empty; write the secret into it"),
    ("\n", "is empty; write the secret into it"),
    ("one\ntwo\n", "has more than one line; write only the secret"),
])
def test_password_files_hold_one_line(check, key, text, says):
    key.write_text(text)
    done = check(entry(password_file=str(key)))
    assert done.stderr.endswith(f"inventory[0].password_file: {key} {says}\n")
    assert "one\n" not in done.stderr


@pytest.mark.parametrize("setting", ["identity", "password_file"])
def test_a_secret_must_be_a_file(check, tmp_path, setting):
    assert "is not a regular file" in check(entry(**{setting: str(tmp_path)})).stderr
    assert "no key" in check(entry(identity="/nowhere/key")).stderr
    assert "No such file" in check(entry(password_file="/nowhere/key")).stderr


# --- a daemon with an inventory ------------------------------------------------------------------


def test_serve_refuses_a_wrong_inventory_before_it_makes_anything(run, tmp_path):
    (tmp_path / "c.yaml").write_text("inventory:\n- hosts: a,a\n  agent_socket: /x\n")
    done = run("serve", "--config", "c.yaml", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (78, "")
    assert "c.yaml:2: inventory[0].hosts: a is listed twice" in done.stderr
    assert not (tmp_path / "state").exists()


def test_serve_takes_mount_rules_and_limits_without_an_inventory(serve, tmp_path):
    (tmp_path / "c.yaml").write_text("mounts: [{type: local, source: '/srv/{share}'}]\n"
                                     "jobs: {memory_mb: 1024}\nlocal: {nodes: 1}\n")
    daemon = serve("--config", "c.yaml")
    assert daemon.stop() == (0, "")
