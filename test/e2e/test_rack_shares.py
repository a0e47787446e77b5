# SPDX-License-Identifier: MIT
"""Shares and containers on machines without a rule: machines mount them from the daemon itself, by sshfs. Some of the
machines want more than their share."""

import json
import shutil
import subprocess

import pytest
import yaml
from support.accounts import Accounts
from support.ports import free_port
from support.rack import USER
from support.racked import NODE_ROOT, Site, group, repair
from support.sftp import Refused, Sftp, refused
from support.someone import UID, as_someone
from support.vaults import ALL, Safe, Vaults, policy
from support.waiting import wait_for
from support.world import MOUNT, file_share, wait_flag

pytestmark = pytest.mark.skipif(not shutil.which("sshfs"), reason="sshfs is not installed")

KEYS = f"{NODE_ROOT}/volumes"


@pytest.fixture
def shared(racked, rack):
    def make(machines=rack, **more):
        return racked([group(rack, machines, **more)], mounts=[], shares={"port": free_port()})

    return make


def server_of(site):
    return site.daemon.state_dir / "share-server"


def keys_of(site):
    folder = server_of(site) / "keys"
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    return {name for name in names if ".tmp-" not in name}


def listener_of(site):
    pid = server_of(site) / "sshd.pid"
    return int(pid.read_text()) if pid.exists() else None


def has_ended(sftp):
    try:
        sftp.names(".")
    except EOFError:
        return True
    except Refused:
        pass  # it still answers
    return False


class Thief:
    """Somebody on a machine who has copied a key, and goes on using it from elsewhere."""

    def __init__(self, site, machine, owner="node"):
        folder = f"{KEYS}/{owner}"
        self.key, self.hosts = site.daemon.dir / "stolen", site.daemon.dir / "hosts"
        self.key.write_bytes(machine.path(f"{folder}/key").read_bytes())
        self.key.chmod(0o600)
        self.hosts.write_bytes(machine.path(f"{folder}/known_hosts").read_bytes())
        self.port = (server_of(site) / "sshd_config").read_text().split()[1]

    def ssh(self, *options):
        return ["ssh", "-F", "none", "-p", self.port, "-i", self.key, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
                "-o", "HostKeyAlias=batchaid-shares", "-o", f"UserKnownHostsFile={self.hosts}",
                "-o", "ConnectTimeout=10", *options, "shares@127.0.0.1"]  # fmt: skip

    def sftp(self):
        return Sftp([*self.ssh(), "-s", "sftp"])

    def run(self, *options, command=()):
        done = subprocess.run([*self.ssh(*options), *command], capture_output=True, stdin=subprocess.DEVNULL, timeout=30)
        return done.stdout + done.stderr


def test_four_machines_write_to_a_share_without_a_rule(shared, rack):
    site = shared()
    task = {"commandLine": f"hostname > {MOUNT}/setup-$(hostname)", "stdOutErrPathPrefix": MOUNT}
    cluster = site.cluster(nodes=4, nodeSetup={"setupTask": task})
    folder = site.share()
    assert {path.name for path in folder.glob("setup-*")} == {f"setup-{m.name}" for m in rack}
    assert len(keys_of(site)) == 4
    (folder / "given").write_text("by the daemon")
    job = site.job(cluster, f"cat {MOUNT}/given; echo more >> {MOUNT}/setup-m1; id -u > {MOUNT}/who").succeeded()
    assert job.read("stdout.txt") == "by the daemon\n" or job.read("stdout.txt") == "by the daemon"
    assert (folder / "setup-m1").read_text() == "m1\nmore\n"
    assert (folder / "who").stat().st_uid != 0
    assert folder.stat().st_mode & 0o777 == 0o777


def test_the_last_key_ends_the_server(shared, rack):
    site = shared(rack[:2])
    cluster = site.cluster(nodes=2)
    pid = listener_of(site)
    cut = server_of(site) / "keys" / "x.tmp-killed"  # of a daemon that was killed while it wrote a key
    cut.touch()
    cluster.resize(0)
    wait_for(lambda: not keys_of(site), what="the keys to be taken back")
    wait_for(lambda: subprocess.run(["kill", "-0", str(pid)], capture_output=True).returncode != 0, what="sshd to end")
    assert not cut.exists()


def test_writes_go_on_while_the_daemon_restarts(shared, rack):
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1)
    seen, path = site.flag("go")
    last, end = site.flag("end")
    command = f"exec 3>{MOUNT}/long; echo before >&3; {wait_flag(path)}; echo between >&3; {wait_flag(end)}; echo after >&3"
    job = site.job(cluster, f"{command}; exec 3>&-")
    job.running()
    long, pid = site.share() / "long", listener_of(site)
    wait_for(lambda: long.exists(), what="the first line")
    site.daemon.kill9()
    assert subprocess.run(["kill", "-0", str(pid)]).returncode == 0
    seen.touch()
    wait_for(lambda: long.read_text() == "before\nbetween\n", what="a line while no daemon runs")
    site.daemon.start()
    last.touch()
    job.succeed()
    assert long.read_text() == "before\nbetween\nafter\n"
    assert listener_of(site) == pid


def test_a_broken_connection_is_an_error_for_open_files_and_comes_back(shared, rack):
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1)
    seen, path = site.flag("broken")
    after = f'said=$( (echo after >&3) 2>&1 ); until echo "$said" > {MOUNT}/said; do sleep 0.2; done'
    command = f"exec 3>{MOUNT}/long; echo before >&3; {wait_flag(path)}; {after}"
    job = site.job(cluster, command, stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP").running()
    long = site.share() / "long"
    wait_for(lambda: long.exists() and long.read_text() == "before\n", what="the first line")
    subprocess.run(["pkill", "-KILL", "-P", str(listener_of(site))], check=True)  # every session; the server goes on
    seen.touch()
    job.succeed()
    assert "Input/output error" in (site.share() / "said").read_text()
    assert long.read_text() == "before\n"


def test_the_address_may_be_a_name(racked, rack):
    hosts = rack[0].path("/etc/hosts")
    before = hosts.read_text()
    hosts.write_text(f"{before}{rack.network[1]} head.lab\n")
    site = racked([group(rack, rack[:1])], mounts=[], shares={"port": free_port(), "address": "head.lab"})
    site.job(site.cluster(nodes=1), f"echo x > {MOUNT}/made").succeeded()
    assert (site.share() / "made").read_text() == "x\n"
    assert rack[0].processes("^ssh .*head.lab|sshfs.*head.lab")
    hosts.write_text(before)


def test_a_key_that_was_taken_back_ends_its_connection_and_opens_no_other(shared, rack):
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1)
    thief = Thief(site, rack[0])
    folder = site.share()
    (folder / "file").write_text("x")
    with thief.sftp() as sftp:
        assert sftp.read("acct/files/out/file") == b"x"
        cluster.resize(0)
        wait_for(lambda: not keys_of(site), what="the key to be taken back")
        wait_for(lambda: has_ended(sftp), what="the connection to end")
    with pytest.raises(ConnectionError):
        thief.sftp()


def test_a_key_opens_its_folders_and_nothing_else(shared, rack):
    site = shared(rack[:1])
    site.cluster(nodes=1)
    site.share("other")
    thief = Thief(site, rack[0])
    with thief.sftp() as sftp:
        sftp.write("acct/files/out/by-key", b"x")
        for path in ("acct/files/other", "/", "..", str(site.daemon.state_dir), "/root"):
            assert refused(sftp.names, path), path
        assert refused(sftp.read, str(site.daemon.state_dir / "token.key"))
        assert refused(sftp.read, "acct/files/out/../../../../token.key")
    assert b"uid=" not in thief.run(command=["id"])
    assert b"forwarding failed" in thief.run("-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22", "-N")
    forwarded = thief.run("-W", f"127.0.0.1:{thief.port}")
    assert b"SSH-2.0" not in forwarded
    assert b"uid=" not in thief.run("-tt", command=["id"])


def check(site):
    config = site.daemon.dir / "check.yaml"
    config.write_text(yaml.safe_dump(site.daemon.config))
    done = site.daemon.tool("nodes", "check", "--json", "--config", str(config), check=False)
    return {m["name"]: m for m in json.loads(done.stdout)["value"]}


def test_nodes_check_tries_the_way_to_shares(shared, rack):
    site = shared(rack[:2])
    rack[0].run("rm /usr/bin/sshfs")
    rack[1]._firewall("-A", "OUTPUT", "-p", "tcp", "--dport", str(site.daemon.config["shares"]["port"]), "-j", "REJECT")
    told = check(site)
    first, second = told[rack[0].address], told[rack[1].address]
    assert first["usable"] and first["checks"]["shares"] == "no"
    assert [note for note in first["notes"] if "it has no sshfs; install it" in note]
    assert second["usable"] and [n for n in second["notes"] if "does not reach the daemon's machine at" in n]
    rack[1].restore_link()
    second = check(site)[rack[1].address]
    assert second["checks"]["shares"] == "ok" and not second["notes"]


def test_nodes_check_asks_a_login_without_root_for_the_line_that_docker_needs(shared, rack):
    """The machine has the device for everybody, as machines with fuse's own rules have, and a fuse.conf of its own."""
    machine = rack[0]
    machine.run("mknod -m 666 /run/fuse c 10 229; mount --bind /run/fuse /dev/fuse")
    site = shared([machine], become=None, node_root=f"/home/{USER}/node")

    def notes_with(lines):
        machine.path("/etc/fuse.conf").write_text(lines)
        told = check(site)[machine.address]
        return told["checks"]["shares"], [note for note in told["notes"] if "docker" in note]

    for lines in ("", "# user_allow_other\nmount_max = 1000\n"):
        said, (note,) = notes_with(lines)
        assert said == "no" and "docker cannot reach mounts of its login; add the line user_allow_other to /etc/fuse.conf" in note
    for lines in ("user_allow_other\n", "mount_max = 1000\n  user_allow_other"):
        assert notes_with(lines) == ("ok", [])


def test_without_sshfs_the_error_names_this_way_first(shared, rack):
    rack[0].run("rm /usr/bin/sshfs")
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1, steady=False)
    error = wait_for(lambda: cluster.properties.get("errors"), 30, "an error")[0]
    remedy = next(d["value"] for d in error["details"] if d["name"] == "remedy")
    assert error["code"] == "AZFMountError" and remedy.startswith("see that the machine has sshfs")


def test_a_job_cannot_take_the_key(shared, rack):
    """Jobs have accounts of their own; the key is root's."""
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1)
    job = site.job(cluster, f"cat {KEYS}/node/key {KEYS}/node/known_hosts; cat /proc/[0-9]*/environ >/dev/null; true")
    job.succeeded()
    assert "PRIVATE" not in job.read("stdout.txt")


def test_a_jobs_own_share_has_a_key_of_its_own(shared, rack):
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1)
    site.share("mine")
    seen, path = site.flag("go")
    volumes = {"azureFileShares": [file_share("mine", "mine")]}
    job = site.job(cluster, f"echo x > $AZ_BATCHAI_JOB_MOUNT_ROOT/mine/made; {wait_flag(path)}", mountVolumes=volumes)
    job.running()
    (own,) = wait_for(lambda: [key for key in keys_of(site) if ".run-" in key], what="the job's key")
    wait_for(lambda: (site.share("mine") / "made").exists(), what="the job's file")
    lines = (server_of(site) / "keys" / own).read_text().splitlines()
    assert [line for line in lines if line.startswith("folder ")] == ["folder acct/files/mine"]
    thief = Thief(site, rack[0], owner=own.split(".run-")[1])
    with thief.sftp() as sftp:
        assert "made" in sftp.names("acct/files/mine")
        assert refused(sftp.names, "acct/files/out")
        seen.touch()
        job.succeed()
        wait_for(lambda: own not in keys_of(site), what="the key to be taken back")
        wait_for(lambda: has_ended(sftp), what="the connection to end")
    with pytest.raises(ConnectionError):
        thief.sftp()
    assert len(keys_of(site)) == 1


@pytest.mark.parametrize("restarted", [False, True], ids=["", "the daemon starts again meanwhile"])
def test_the_key_of_a_job_whose_machine_is_gone_is_taken_back(shared, rack, restarted):
    """Nothing is mounted from the daemon by the cluster itself."""
    site = shared(rack[:1])
    cluster = site.cluster(nodes=1, nodeSetup={"mountVolumes": {"azureFileShares": []}})
    site.share("mine")
    mine = {"mountVolumes": {"azureFileShares": [file_share("mine", "mine")]}, "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/mine"}
    site.job(cluster, "sleep 1000", **mine).running()
    (own,) = wait_for(lambda: keys_of(site), what="the job's key")
    thief = Thief(site, rack[0], owner=own.split(".run-")[1])
    rack[0].power_off()
    if restarted:
        site.daemon.restart()
    with thief.sftp() as sftp:
        wait_for(lambda: own not in keys_of(site), 60, what="the key to be taken back")
        wait_for(lambda: has_ended(sftp), what="the connection to end")
    with pytest.raises(ConnectionError):
        thief.sftp()
    rack[0].start()
    cluster.wait_steady(1)


def test_without_its_rule_a_mount_opens_nobody_elses_account(racked, rack):
    """A cluster was accepted with a key of an account elsewhere. The rule goes, and somebody makes an account of this name."""
    site = racked([group(rack, rack[:1])], shares={"port": free_port()})
    safe = Safe(site.daemon, Vaults(site.daemon).make().vault(policy(site.daemon.env["AZURE_CLIENT_ID"], **ALL)))
    safe.set("key", "of-elsewhere")
    secret = {"sourceVault": {"id": "/vaults/v"}, "secretUrl": f"https://{safe.name}.vault.azure.net/secrets/key"}
    volumes = [file_share("data", "data", account="elsewhere", credentials={"accountKeySecretReference": secret})]
    cluster = site.cluster(nodes=0, nodeSetup={"mountVolumes": {"azureFileShares": volumes}})
    accounts = Accounts(site.daemon, site.group)
    accounts.account("elsewhere")
    accounts.share("elsewhere", "data")
    site.daemon.config["mounts"] = []
    site.daemon.write_config()
    site.daemon.tool("reload")
    cluster.resize(1)
    errors = wait_for(lambda: cluster.properties.get("errors"), 30, "the cluster's error")
    assert errors[0]["code"] == "AZFMountError" and "is not a key of the storage account elsewhere" in str(errors)
    safe.set("key", accounts.keys("elsewhere")[0])
    cluster.resized(0)
    cluster.resized(1)


def test_a_second_user_of_the_daemons_machine_logs_in_to_nothing(shared, rack):
    """Somebody with an account there, but without a key: with keys of his own, a password, or none."""
    site = shared(rack[:1])
    site.cluster(nodes=1)
    thief = Thief(site, rack[0])
    folder = server_of(site)
    assert folder.stat().st_mode & 0o077 == 0 and (folder / "keys").stat().st_mode & 0o077 == 0
    thief.key.unlink()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", thief.key], check=True)
    for method in ("publickey", "password", "keyboard-interactive", "hostbased", "none"):
        said = thief.run("-o", f"PreferredAuthentications={method}")
        assert b"Permission denied (publickey)" in said, (method, said)


def test_a_daemon_without_root_serves_them_too(rack, request):
    """Of an account without a shell: as the Debian package's."""
    site = Site(rack, [group(rack, rack[:1])], mounts=[], shares={"port": free_port()})
    request.addfinalizer(lambda: (rack.each(repair), site.daemon.close()))
    daemon = site.daemon
    key = daemon.dir / "key"
    key.write_bytes(rack.identity.read_bytes())
    key.chmod(0o600)
    daemon.config["inventory"][0]["identity"] = str(key)
    (daemon.state_dir / "storage").unlink()  # of the rack, where this account may not go
    subprocess.run(["chown", "-R", f"{UID}:{UID}", str(daemon.dir)], check=True)
    daemon.prefix = daemon.whose = as_someone()
    daemon.environment = {"HOME": str(daemon.dir), **daemon.environment}
    site.begin()
    cluster = site.cluster(nodes=1)
    job = site.job(cluster, f"echo x > {MOUNT}/made; cat {MOUNT}/made").succeeded()
    assert job.read("stdout.txt") == "x\n"
    assert (site.share() / "made").stat().st_uid == UID
    thief = Thief(site, rack[0])
    with thief.sftp() as sftp:
        assert refused(sftp.read, str(daemon.state_dir / "token.key"))
        assert refused(sftp.names, str(daemon.state_dir))
        cluster.resize(0)
        wait_for(lambda: has_ended(sftp), what="the connection to end")
