# SPDX-License-Identifier: MIT
"""The configuration file: what is accepted, what is refused, and that the texts about it are true."""
import os
import subprocess

import pytest
import yaml
from support.daemon import BATCHAID, ROOT


def check(run, tmp_path, text):
    (tmp_path / "c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return run("check-config", "c.yaml")


@pytest.mark.parametrize("text", [
    "", "# nothing\n", "---\n", "listen: [\"127.0.0.1:0\", \"[::1]:0\"]\n",
    "listen:\n- localhost:1\n", "log: {level: debug, format: json}\n",
    "log:\n  level: warn\n\nquota:\n  clusters: 0\n", "compat:\n  strict: true\n",
    "local:\n  vm_sizes:\n  - standard_nc6\n  nodes: 0\n", "state_dir: /var/lib/x\n",
    "auth:\n  token_lifetime_s: 86400\n", "listen: []\n", "state_dir:\n", "local: {nodes: '1'}\n",
    "compat: {strict: 'true'}\n", "%YAML 1.1\n--- !!map {state_dir: !!int 3}\n...\n", "? log\n: {? level : info}\n",
    "\ufefflog: {}\n", "log: {}\n".encode("utf-16"),
])
def test_accepted(run, tmp_path, text):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "c.yaml: ok\n", "")


@pytest.mark.parametrize("text, line, words", [
    ("foo: 1\n", 1, ["foo", "listen, state_dir, log, subscription"]),
    ("log:\n  levl: info\n", 2, ["log: ", "levl", "level, format"]),
    ("log:\n  level: info\nlog:\n  level: info\n", 3, ["log: 'log'", "a second time; the first is on line 1"]),
    ("log:\n  level: info\n# twice\n  level: info\n", 4, ["log.level: 'level'", "a second time; the first is on line 2"]),
    ("listen: [\"127.0.0.1:0\"]\nfoo: 1\n", 2, ["foo", "listen, state_dir"]),
    ("listen:\n- localhost:1\n\n'foo' : 1\n", 4, ["foo", "listen, state_dir"]),
    ("log: {level: info}\nlocal:\n  vm_sizes: [a]\n  level: 1\n", 4, ["local: ", "level", "nodes"]),
    ("log:\n\tlevel: info\n", 2, ["there is a tab; YAML takes only blanks in front"]),
    ("mounts:\n- match: */*\n", 2, ["alias", "put a text that begins with * in quotes"]),
    ("inventory:\n- hosts: [a[1-2]]\n", 2, ["put a text with brackets or commas in quotes"]),
    ("log: {}\n---\nlog: {}\n", 2, ["a second document begins here"]),
    ("? [a]\n: b\n", 1, ["a key must be one word"]),
    ("\n\nauth:\n  token_lifetime_s: soon\n", 4, ["auth.token_lifetime_s", "'soon'", "number"]),
    ("auth:\n  token_lifetime_s: 59\n", 2, ["auth.token_lifetime_s", "59", "60 to 86400"]),
    ("auth:\n  token_lifetime_s: 86401\n", 2, ["86401", "60 to 86400"]),
    ("log: {level: info}\nquota: {cores: -1}\n", 2, ["quota.cores", "-1"]),
    ("quota:\n  clusters: 99999999999999999999\n", 2, ["quota.clusters", "99999999999999999999"]),
    ("local: {nodes: 1.5}\n", 1, ["local.nodes", "'1.5'", "number", "0 to 10000"]),
    ("quota:\n  clusters: 2\nlocal:\n  nodes: 12k\n", 4, ["local.nodes", "'12k'", "number"]),
    ("local:\n  nodes: 0x10\n", 2, ["local.nodes", "'0x10'", "number"]),
    ("local:\n  nodes: 010\n", 2, ["local.nodes", "'010'", "number"]),
    ("local:\n  nodes: +1\n", 2, ["local.nodes", "'+1'", "number"]),
    ("local:\n  nodes: '1 '\n", 2, ["local.nodes", "'1 '", "number"]),
    ("local:\n  nodes: 1e3\n", 2, ["local.nodes", "'1e3'", "number"]),
    ("local:\n  nodes:\n", 2, ["local.nodes", "''", "number"]),
    ("local:\n  nodes: ~\n", 2, ["local.nodes", "'~'", "number"]),
    ("local:\n  nodes: -\n", 2, ["block sequence entries are not allowed"]),
    ("quota:\n  clusters: [1]\n", 2, ["quota.clusters", "number"]),
    ("compat:\n  strict: maybe\n", 2, ["compat.strict", "maybe"]),
    ("log:\n  level: loud\n", 2, ["log.level", "'loud'", "debug, info, warn or error"]),
    ("log:\n  format: xml\n", 2, ["log.format", "'xml'", "text or json"]),
    ("log: info\n", 1, ["log: it is a text; it takes key: value pairs; the keys here are level, format\n"]),
    ("listen: localhost:7443\n", 1, ["listen", "list"]),
    ("log:\n  level: info\nlisten:\n- localhost\n", 4, ["listen[0]", "'localhost'", "no port"]),
    ("subscription:\n  id: main\n", 2, ["subscription.id", "'main'", "GUID"]),
    ("subscription:\n  name: ''\n", 2, ["subscription.name", "empty"]),
    ("local:\n  vm_sizes: [\"a b\"]\n", 2, ["local.vm_sizes", "'a b'"]),
    ("local:\n  nodes: 10001\n", 2, ["local.nodes", "10001", "0 to 10000"]),
    ("- a\n- b\n", None, ["it is a list; it takes key: value pairs; the keys here are listen, "]),
    (b"a: \xff\xfe\n", 1, ["(0xFF)", "UTF-8"]),
    (b"\n\nstate_dir: /x\x07\n", 3, ["control characters are not allowed (0x07)"]),
    ('state_dir: "/a\\0b"\n', 1, ["state_dir: ", "\\u0000"]),
    ("state_dir: @x\n", 1, ["a text cannot begin with @; put it in quotes"]),
    ("log:\n level: info\n  format: text\n", 3, ["indented", "quotes"]),
    ("log:\n  level: *l\n", 2, ["log.level: *l has no anchor"]),
    ("log:\n", 1, ["log: it is empty; it takes key: value pairs; the keys here are level, format\n"]),
    ("log: " + "[" * 17 + "]" * 17 + "\n", 1, ["nested too deep", "16"]),
    ("log: &l\n  level: info\nlocal: *l\n", 3, ["local: Unexpected key: level"]),
    ("state_dir: /" + "x" * 4096 + "\n", 1, ["state_dir: it has 4097 bytes; at most 4096 are allowed"]),
    ("tls:\n  names: [" + "a," * 10001 + "]\n", 2, ["tls.names: it has 10001 items; at most 10000 are allowed"]),
    ("log.level: info\n", 1, ["Unexpected key: log.level"]),
    ("compat:\n  strict: yes\n", 2, ["compat.strict: 'yes' is not a truth value; use true or false"]),
])
def test_refused(run, tmp_path, text, line, words):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stdout) == (1, "")
    place = f"c.yaml:{line}: " if line else "c.yaml"
    assert done.stderr.startswith(f"batchaid: {place}"), done.stderr
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


GROUP = ("hosts, user, identity, password_file, agent_socket, become, node_root, job_user, vm_sizes, "
         "priority, slots, fake_gpus, health_command, health_interval_s")
RULE = "match, kind, type, source, options, command, unmount"


@pytest.mark.parametrize("text, says", [
    ("inventory: gpu01\n",
     "1: inventory: it is a text; it takes a list of groups of machines, as "
     "in inventory: [{...}, {...}]"),
    ("inventory:\n- hosts: a\n- gpu01\n",
     "3: inventory[1]: it is a text; it takes key: value pairs; the keys here "
     f"are {GROUP}"),
    ("inventory:\n- hosts: a\n  usr: me\n",
     f"3: inventory[0]: Unexpected key: usr (did you mean user?); the keys here are {GROUP}"),
    ("inventory: [{hosts: a, usr: me}]\n",
     f"1: inventory[0]: Unexpected key: usr (did you mean user?); the keys here are {GROUP}"),
    ("inventory:\n- hosts: a\n  user: b\n- user: b\n  hosts: c\n\n  user: d\n",
     "7: inventory[1].user: 'user' stands here a second time; the first is on line 4"),
    ("inventory:\n- hosts: a\n-\n  user: me\n",
     "4: inventory[1]: hosts is missing; write it as in hosts: gpu[01-16].rack1"),
    ("inventory:\n- user: me\n  hosts: []\n",
     "3: inventory[0].hosts: it is empty; write it as in hosts: gpu[01-16].rack1"),
    ("inventory:\n- hosts: {a: b}\n",
     "2: inventory[0].hosts: it is a mapping; it takes a text or list, "
     "as in hosts: gpu[01-16].rack1"),
    ("inventory:\n- hosts:\n  - a\n  - [b]\n",
     "4: inventory[0].hosts[1]: it is a list; each item of this list "
     "must be a text"),
    ("inventory:\n- hosts: a\n  vm_sizes: X\n",
     "3: inventory[0].vm_sizes: it is a text; it takes a list, as in "
     "vm_sizes: [STANDARD_NC6]"),
    ("inventory:\n- hosts: a\n  vm_sizes:\n  - X\n  - a b\n",
     "5: inventory[0].vm_sizes[1]: 'a b' is not a valid VM size; write a name as in STANDARD_NC6"),
    ("inventory:\n- hosts: a\n  priority: high\n",
     "3: inventory[0].priority: 'high' is not known here; use dedicated or lowpriority"),
    ("inventory:\n- hosts: a\n  user: -oX\n",
     "3: inventory[0].user: '-oX' is not a valid account name; use at most 64 letters, digits, '.', '_', '@' "
     "and '-', and no '-' first"),
    ("inventory:\n- hosts: a\n  identity: id_ed25519\n",
     "3: inventory[0].identity: 'id_ed25519' is not an absolute path; begin it with /"),
    ("inventory:\n- hosts: a\n  node_root: ''\n",
     "3: inventory[0].node_root: it must not be empty; write an absolute path"),
    ("inventory:\n- hosts: a\n  become: ''\n",
     "3: inventory[0].become: '' is not a valid command; use sudo, another command or none"),
    ("inventory:\n- hosts: a\n  become: yes\n",
     "3: inventory[0].become: 'yes' is not a valid command; use sudo, another command or none"),
    ("inventory:\n- hosts: a\n  become: |\n    sudo\n    x\n",
     "3: inventory[0].become: it has a control character; write one line"),
    ("inventory:\n- {hosts: a, user: me, agent_socket: /x, job_user: jobs}\n",
     "2: inventory[0].job_user: jobs cannot run as 'jobs' where root is not reached; add become: "
     "sudo, or log in as user: root"),
    ("inventory:\n- hosts: a\n  health_interval_s: 0\n",
     "3: inventory[0].health_interval_s: 0 is out of range; use 1 to 86400"),
    ("inventory:\n- hosts: a\n  health_interval_s: often\n",
     "3: inventory[0].health_interval_s: 'often' is not a whole number; use a number from 1 to 86400 in "
     "decimal digits"),
    ("mounts:\n- kind: files\n",
     "2: mounts[0]: type is missing; write it as in type: local"),
    ("mounts:\n- type: ntfs\n",
     "2: mounts[0].type: 'ntfs' is not known here; use local, bind, nfs, cifs, sshfs, blobfuse2 or "
     "command"),
    ("mounts:\n- type: blobfuse2\n  kind: shares\n",
     "3: mounts[0].kind: 'shares' is not known here; use files, blobs or any"),
    ("mounts:\n- type: blobfuse2\n  share: x\n",
     f"3: mounts[0]: Unexpected key: share; the keys here are {RULE}"),
    ("mounts:\n- type: blobfuse2\n  match: mystorage\n",
     "3: mounts[0].match: 'mystorage' is not a valid ACCOUNT/SHARE; write two patterns with one slash, as in "
     "*/* or mystorage/data-*"),
    ("mounts:\n- type: local\n",
     "2: mounts[0].source: '' is not a valid source for type local; it needs a folder of the machine, as in "
     "/srv/{account}/{share}"),
    ("mounts:\n- type: bind\n  source: srv\n",
     "3: mounts[0].source: 'srv' is not a valid source for type bind; it needs a folder of the machine, as in "
     "/srv/{account}/{share}"),
    ("mounts:\n- type: nfs\n  source: nas1\n",
     "3: mounts[0].source: 'nas1' is not a valid source for type nfs; it needs HOST:/path, as in "
     "nas1:/export/{share}"),
    ("mounts:\n- type: cifs\n  source: nas1/data\n",
     "3: mounts[0].source: 'nas1/data' is not a valid source for type cifs; it needs //HOST/SHARE, as in "
     "//nas1/{share}, or none"),
    ("mounts:\n- type: sshfs\n  source: /data\n",
     "3: mounts[0].source: '/data' is not a valid source for type sshfs; it needs [USER@]HOST:[PATH], as in "
     "data@nas1:/srv/{share}"),
    ("mounts:\n- type: blobfuse2\n  source: /srv\n",
     "3: mounts[0].source: '/srv' is not a valid source for type blobfuse2; it needs HOST or a URL, or none"),
    ("mounts:\n- type: command\n  command: m\n  source: /a\n",
     "4: mounts[0].source: '/a' is not a valid source for type command; it needs no source: what is mounted "
     "stands in the command"),
    ("mounts:\n- type: command\n",
     "2: mounts[0].command: type command needs a command, as in command: mount.mine {account} {share} "
     "{target}"),
    ("mounts:\n- type: nfs\n  source: nas1:/a\n  command: mount\n",
     "4: mounts[0].command: type nfs has no command; use type: command"),
    ("mounts:\n- type: nfs\n  source: nas1:/{acount}\n",
     "3: mounts[0].source: {acount} is not a placeholder here; use {account}, {share}, {container}, "
     "{key}, {url}, {options} or {target}"),
    ("file_servers:\n- name: a\n",
     "2: file_servers[0].nfs: no server is named; use nfs: HOST:/path, or machine and "
     "directory"),
    ("file_servers:\n- nfs: a:/b\n  machine: gpu01\n",
     "2: file_servers[0].nfs: there is a machine or directory as well; use either nfs, or machine "
     "and directory"),
    ("file_servers:\n- machine: gpu01\n",
     "2: file_servers[0].directory: it is missing; machine and directory go together"),
    ("file_servers:\n- machine: gpu01\n  directory: /srv\n",
     "2: file_servers[0].machine: 'gpu01' is not a machine of the inventory; write a name as "
     "`batchaid check-config` shows it"),
    ("file_servers:\n- nfs: nas1\n",
     "2: file_servers[0].nfs: 'nas1' is not a valid NFS export; write HOST:/path"),
    ("file_servers:\n- nfs: nas1:/{share}\n",
     "2: file_servers[0].nfs: {share} is not a placeholder here; use {workspace} or {name}"),
    ("containers:\n  runtimes:\n  - docker\n  - lxc\n",
     "4: containers.runtimes[1]: 'lxc' is not known here; use docker or podman"),
    ("ssh:\n  connect_limit: 0\n",
     "2: ssh.connect_limit: 0 is out of range; use 1 to 10000"),
    ("ssh:\n  keepalive_s: 60\n",
     "1: ssh.dead_after_s: 60 is not more than keepalive_s, which is 60: a machine would count as "
     "dead before it is asked"),
    ("machines: {disk: 1}\n",
     "1: machines: Unexpected key: disk; the keys here are unusable_after_s, health_interval_s, "
     "min_free_disk_mb, max_clock_skew_s, gpu_jobs_directory, samples, reclaim"),
    ("jobs:\n  memory_mb: 1GB\n",
     "2: jobs.memory_mb: '1GB' is not a whole number; use a number from 0 to 1000000000 in decimal digits"),
])
def test_what_is_said_of_a_wrong_site(run, tmp_path, text, says):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"batchaid: c.yaml:{says}\n"


@pytest.mark.parametrize("text", [
    "inventory: []\nmounts: []\nfile_servers: []\ncontainers: {runtimes: []}\n",
    "inventory: [{hosts: 'a,b', agent_socket: /x}]\n",
    "inventory:\n- hosts: >-\n    a,\n    b\n  agent_socket: /x\n",
    "inventory:\n- &rack\n  hosts: a\n  agent_socket: /x\n",
    "inventory:\n- {hosts: a, user: root, job_user: jobs, agent_socket: /x}\n",
    "inventory:\n- {hosts: a, user: me, job_user: jobs, become: sudo, agent_socket: /x}\n",
    "mounts:\n- type: blobfuse2\n- {type: bind, source: '/srv/{account}'}\n"
    "- {type: nfs, source: 'nas:/x'}\n- {type: cifs, source: //nas/x}\n- type: cifs\n"
    "- {type: blobfuse2, source: 'http://127.0.0.1:10000/a'}\n- {type: blobfuse2, source: '{url}'}\n"
    "- {type: sshfs, source: 'nas:'}\n- {type: local, source: /srv, match: 'a*/b?'}\n",
    "mounts:\n- type: command\n  command: m ${HOME} {account} \"$(printf '{ %s }' {share})\" {target}\n"
    "  unmount: u {target}\n",
    "inventory: [{hosts: GPU01, agent_socket: /x}]\n"
    "file_servers: [{machine: gpu01, directory: '/srv/{name}'}, {nfs: 'nas:/{workspace}'}]\n",
    "inventory:\n- {hosts: &h a, agent_socket: &s /x}\n- {hosts: &h b, agent_socket: *s}\n"
    "file_servers: [{machine: *h, directory: /srv}]\n",
    "containers: {runtimes: [podman]}\nssh: {strict_host_keys: true, known_hosts: /x}\n",
])
def test_accepted_sites(run, tmp_path, text):
    done = check(run, tmp_path, text)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_is_not_there(run):
    done = run("check-config", "nowhere.yaml")
    assert done.returncode == 1
    assert "nowhere.yaml" in done.stderr and "No such file" in done.stderr


@pytest.mark.parametrize("text", ["port: 1\n", "local: {nodes: 1.5}\n"])
def test_serve_refuses_a_wrong_file_before_it_makes_anything(run, tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    done = run("serve", "--config", "c.yaml", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (78, "")
    assert "c.yaml:1: " in done.stderr
    assert not (tmp_path / "state").exists()


def test_example_sets_every_default(run, tmp_path):
    text = run("help", "config", "yaml").stdout
    assert check(run, tmp_path, text).returncode == 0
    flat = {}
    for key, value in yaml.safe_load(text).items():
        inner = value.items() if isinstance(value, dict) else [(None, value)]
        flat.update({f"{key}.{k}" if k else key: v for k, v in inner})
    listed = [line.split(" (")[0] for line in run("help", "config").stdout.splitlines()[2:]
              if line and not line.startswith(" ")]
    records = ("inventory", "mounts", "file_servers")
    assert [key for key in listed if not key.startswith(records)] == list(flat)
    assert flat["listen"] == ["localhost:7443"] and flat["compat.retry_after_s"] == 1


def test_examples_of_records_hold_when_uncommented(run, tmp_path):
    text = run("help", "config", "yaml").stdout
    for name in ("inventory", "mounts", "file_servers"):
        begin = text.index(f"\n# {name}:\n") + 1
        end = text.index("\n\n", begin)
        text = text[:begin] + text[begin:end].replace("\n# ", "\n")[2:] + text[end:]
    for name in ("id_ed25519", "rack2.password"):
        (tmp_path / name).write_text("secret")
        (tmp_path / name).chmod(0o600)
    done = check(run, tmp_path, text.replace("/etc/batchaid", str(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3 + 16 + 4 + 1  # headings and machines
    assert len(yaml.safe_load(text)["mounts"]) == 4


def test_generated_texts_are_current():
    done = subprocess.run(["/usr/bin/python3", ROOT / "test/tools/config_docs.py"], text=True,
                          capture_output=True, env={**os.environ, "BATCHAID": str(BATCHAID)})
    assert done.returncode == 0, done.stdout + done.stderr
