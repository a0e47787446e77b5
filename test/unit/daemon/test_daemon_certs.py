# SPDX-License-Identifier: MIT
"""The certificates: what strict verifiers say, real handshakes, and when they are made anew."""
import signal
import socket
import ssl
import subprocess

import pytest
from support.waiting import wait_for


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)


def names(path):
    text = openssl("x509", "-in", path, "-noout", "-ext", "subjectAltName").stdout
    return {part.strip() for part in text.splitlines()[1].split(",")}


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def test_strict_verification(serve, state):
    serve()
    strict = ["verify", "-x509_strict", "-CAfile", state / "ca.pem"]
    done = openssl(*strict, "-purpose", "sslserver", state / "server.pem")
    assert done.returncode == 0, done.stderr
    for host in ("localhost", "acct.file.localhost", "acct.blob.localhost", "v.vault.localhost",
                 socket.gethostname()):
        done = openssl(*strict, "-verify_hostname", host, state / "server.pem")
        assert done.returncode == 0, (host, done.stderr)
    for address in ("127.0.0.1", "::1"):
        done = openssl(*strict, "-verify_ip", address, state / "server.pem")
        assert done.returncode == 0, (address, done.stderr)
    assert openssl(*strict, "-verify_hostname", "example.org", state / "server.pem").returncode != 0


def test_what_the_certificates_say(serve, state):
    serve()
    ca = openssl("x509", "-in", state / "ca.pem", "-noout", "-text").stdout
    server = openssl("x509", "-in", state / "server.pem", "-noout", "-text").stdout
    for text in (ca, server):
        assert "prime256v1" in text and "ecdsa-with-SHA256" in text
        assert "Subject Key Identifier" in text and "Authority Key Identifier" in text
    assert "CA:TRUE, pathlen:0" in ca and "Certificate Sign, CRL Sign" in ca
    assert "CA:FALSE" in server and "TLS Web Server Authentication" in server
    ten_years_less_a_day = 3649 * 24 * 60 * 60
    assert openssl("x509", "-in", state / "ca.pem", "-checkend", ten_years_less_a_day).returncode == 0


@pytest.mark.parametrize("family, address, name", [
    (socket.AF_INET, "127.0.0.1", "localhost"),
    (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
    (socket.AF_INET6, "::1", "::1"),
    (socket.AF_INET, "127.0.0.1", "acct.file.localhost"),
])
def test_handshake(serve, state, family, address, name):
    d = serve()
    context = ssl.create_default_context(cafile=state / "ca.pem")
    with socket.socket(family) as raw:
        raw.settimeout(30)
        raw.connect((address, d.port))
        with context.wrap_socket(raw, server_hostname=name) as tls:
            assert tls.version() in ("TLSv1.2", "TLSv1.3")


def test_a_stranger_does_not_trust_it(serve):
    d = serve()
    context = ssl.create_default_context()
    with socket.create_connection(("127.0.0.1", d.port), timeout=30) as raw:
        with pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(raw, server_hostname="localhost")


def restart_after(serve, state, change, **more):
    """Whether authority and server certificate changed over a restart."""
    serve().stop()
    change()
    before = [(state / n).read_bytes() for n in ("ca.pem", "server.pem")]
    serve(**more)
    after = [(state / n).read_bytes() for n in ("ca.pem", "server.pem")]
    return [a != b for a, b in zip(after, before)]


def test_nothing_changes_without_need(serve, state):
    assert restart_after(serve, state, lambda: None) == [False, False]


def test_new_address(serve, state):
    assert restart_after(serve, state, lambda: None, listen=["127.0.0.2:0"]) == [False, True]
    assert "IP Address:127.0.0.2" in names(state / "server.pem")


def short_lived(state, days):
    """Replaces the server certificate by one with the same names that ends soon."""
    alt = ",".join(n.replace("IP Address:", "IP:") for n in names(state / "server.pem"))
    (state / "ext").write_text(f"subjectAltName={alt}\nextendedKeyUsage=serverAuth\n")
    request = openssl("req", "-new", "-key", state / "server.key", "-subj", "/CN=localhost")
    (state / "csr").write_text(request.stdout)
    done = openssl("x509", "-req", "-in", state / "csr", "-CA", state / "ca.pem", "-CAkey",
                   state / "ca.key", "-days", days, "-extfile", state / "ext", "-out",
                   state / "server.pem")
    assert done.returncode == 0, done.stderr


def test_ends_soon(serve, state):
    assert restart_after(serve, state, lambda: short_lived(state, 29)) == [False, True]


def test_ends_late_enough(serve, state):
    assert restart_after(serve, state, lambda: short_lived(state, 32)) == [False, False]


AUTHORITY = """
[ca]
default_ca = it
[it]
database = {0}/index
new_certs_dir = {0}
serial = {0}/serial
certificate = {0}/ca.pem
private_key = {0}/ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
"""


def made_in_2038(state):
    """Replaces the server certificate by one that was made while the clock was ahead."""
    short_lived(state, 800)
    (state / "authority").write_text(AUTHORITY.format(state))
    (state / "index").write_text("")
    (state / "serial").write_text("01\n")
    done = openssl("ca", "-batch", "-config", state / "authority", "-in", state / "csr", "-extfile", state / "ext",
                   "-startdate", "20380119000000Z", "-enddate", "20400101000000Z", "-notext",
                   "-out", state / "server.pem")
    assert done.returncode == 0, done.stderr


def test_has_not_begun(serve, state):
    assert restart_after(serve, state, lambda: made_in_2038(state)) == [False, True]
    assert openssl("verify", "-CAfile", state / "ca.pem", state / "server.pem").returncode == 0


def test_an_authority_made_while_the_clock_was_ahead_is_good_afterwards(serve, state):
    serve()
    begins = openssl("x509", "-in", state / "ca.pem", "-noout", "-startdate").stdout
    assert begins == "notBefore=Jan  1 00:00:00 2018 GMT\n"


def test_key_that_does_not_fit(serve, state):
    def other_key():
        done = openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out",
                       state / "server.key")
        assert done.returncode == 0

    assert restart_after(serve, state, other_key) == [False, True]


@pytest.mark.parametrize("lost", ["server.pem", "server.key"])
def test_lost_server_certificate(serve, state, lost):
    serve().stop()
    (state / lost).unlink()
    serve()
    assert openssl("verify", "-CAfile", state / "ca.pem", state / "server.pem").returncode == 0


def test_lost_authority(serve, state):
    serve().stop()
    (state / "ca.pem").unlink()
    serve()
    assert openssl("verify", "-CAfile", state / "ca.pem", state / "server.pem").returncode == 0


def handshake(port, name, authority):
    """The certificate (DER) that a client is shown who asks for this name, and trusts it."""
    context = ssl.create_default_context(cafile=authority)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        with context.wrap_socket(raw, server_hostname=name) as tls:
            return tls.getpeercert(binary_form=True)


@pytest.mark.parametrize("name", ["mystor.file.core.localhost", "demokv.vault.localhost",
                                  "mystor.blob.core.gpu-head.lab", "gpu-head.lab"])
def test_names_below_ours_are_served_when_asked_for(serve, state, tmp_path, name):
    (tmp_path / "c.yaml").write_text("tls: {names: [gpu-head.lab]}\n")
    d = serve("--config", "c.yaml")
    handshake(d.port, name, state / "ca.pem")
    handshake(d.port, "localhost", state / "ca.pem")


def test_names_of_others_are_not(serve, state):
    d = serve()
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(d.port, "mystor.file.core.windows.net", state / "ca.pem")


def test_new_name(serve, state, tmp_path):
    (tmp_path / "c.yaml").write_text("tls: {names: [gpu-head.lab]}\n")
    serve().stop()
    before = (state / "ca.pem").read_bytes()
    serve("--config", "c.yaml")
    assert "DNS:gpu-head.lab" in names(state / "server.pem")
    assert (state / "ca.pem").read_bytes() == before


@pytest.mark.parametrize("name", ["gpu head", "gpu-head.lab:7443", "https://gpu-head.lab", "-", "a" * 250])
def test_a_name_that_is_none(run, tmp_path, name):
    (tmp_path / "c.yaml").write_text(f"tls: {{names: ['{name}']}}\n")
    done = run("serve", "--config", "c.yaml", "--state-dir", "s")
    assert done.returncode == 78 and "is not a valid host name" in done.stderr, done.stderr


class Site:
    """A site with an authority of its own."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.authority = folder / "site-ca.pem"
        done = openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "site-ca.key",
                       "-subj", "/CN=the lab", "-days", "30", "-out", self.authority)
        assert done.returncode == 0, done.stderr
        self.sign()
        config = folder / "c.yaml"
        config.write_text(f"tls: {{certificate: {folder}/site.pem, key: {folder}/site.key}}\n")

    def sign(self, name="gpu-head.lab", ended=False, more=""):
        f = self.folder
        done = openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f / "site.key", "-subj", "/CN=x")
        (f / "csr").write_text(done.stdout)
        (f / "ext").write_text(f"subjectAltName=DNS:{name},DNS:*.file.core.{name}{more}\n")
        done = openssl("x509", "-req", "-in", f / "csr", "-CA", self.authority, "-CAkey", f / "site-ca.key",
                       "-days", "-1" if ended else "30", "-extfile", f / "ext", "-out", f / "leaf.pem")
        assert done.returncode == 0, done.stderr
        (f / "site.pem").write_text((f / "leaf.pem").read_text() + self.authority.read_text())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return Site(tmp_path_factory.mktemp("lab") / "site")


def test_the_sites_certificate_is_shown_for_its_names(serve, state, site):
    d = serve("--config", site.folder / "c.yaml")
    handshake(d.port, "gpu-head.lab", site.authority)
    handshake(d.port, "mystor.file.core.gpu-head.lab", site.authority)
    handshake(d.port, "localhost", state / "ca.pem")
    handshake(d.port, "mystor.file.core.localhost", state / "ca.pem")


def test_a_sites_certificate_that_names_localhost_leaves_localhost_to_the_daemon(serve, run, state, tmp_path):
    site = Site(tmp_path / "own")
    site.sign(more=",DNS:localhost,DNS:*.file.core.localhost")
    d = serve("--config", site.folder / "c.yaml")
    handshake(d.port, "gpu-head.lab", site.authority)
    for name in ("localhost", "LOCALHOST", "mystor.file.core.localhost"):
        handshake(d.port, name, state / "ca.pem")
    done = run("reload", "--state-dir", "state")
    assert (done.returncode, done.stdout) == (0, "nothing has changed\n"), done.stderr


def test_the_sites_certificate_is_read_again_on_sighup(serve, site):
    d = serve("--config", site.folder / "c.yaml")
    before = handshake(d.port, "gpu-head.lab", site.authority)
    site.sign()
    assert handshake(d.port, "gpu-head.lab", site.authority) == before
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "daemon.reloaded" in d.log)
    assert handshake(d.port, "gpu-head.lab", site.authority) != before


def test_a_certificate_of_no_use_leaves_the_old_one(serve, site):
    d = serve("--config", site.folder / "c.yaml")
    before = handshake(d.port, "gpu-head.lab", site.authority)
    good = (site.folder / "site.key").read_text()
    (site.folder / "site.key").write_text(openssl("genrsa", "2048").stdout)
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "daemon.not_reloaded" in d.log and "is not the key of" in d.log)
    assert handshake(d.port, "gpu-head.lab", site.authority) == before
    (site.folder / "site.key").write_text(good)
    d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "daemon.reloaded" in d.log)


def test_a_certificate_of_no_use_leaves_a_changed_inventory_alone_too(serve, site, run):
    config = site.folder / "c.yaml"
    d = serve("--config", config)
    good, text = (site.folder / "site.key").read_text(), config.read_text()
    (site.folder / "site.key").write_text(openssl("genrsa", "2048").stdout)
    config.write_text(text + "inventory:\n- {hosts: ['127.0.0.1:1'], user: nobody, agent_socket: /nowhere}\n")
    done = run("reload", "--state-dir", "state")
    assert done.returncode == 1 and "is not the key of" in done.stderr, done.stderr
    assert "127.0.0.1:1" not in run("nodes", "--state-dir", "state").stdout
    (site.folder / "site.key").write_text(good)
    assert run("reload", "--state-dir", "state").stdout == "added: 127.0.0.1:1\nin use now: inventory\n"
    assert "127.0.0.1:1" in run("nodes", "--state-dir", "state").stdout
    assert d.stop()[0] == 0


def test_a_certificate_whose_files_have_moved_holds_up_no_reload(serve, run, tmp_path):
    moved = Site(tmp_path / "moved")
    config, text = tmp_path / "c.yaml", (moved.folder / "c.yaml").read_text()
    config.write_text(text)
    d = serve("--config", config)
    before = handshake(d.port, "gpu-head.lab", moved.authority)
    for name in ("site.pem", "site.key"):
        (moved.folder / name).rename(moved.folder / f"new-{name}")
    config.write_text(text.replace("site.", "new-site.") + "jobs: {cpus: 2}\n")
    done = run("reload", "--state-dir", "state")
    restart = "in use after a restart of the daemon only: tls.certificate, tls.key\n"
    assert (done.returncode, done.stdout) == (0, "in use now: jobs.cpus\n" + restart), done.stderr
    config.write_text("{}\n")
    assert run("reload", "--state-dir", "state").stdout == "in use now: jobs.cpus\n" + restart
    assert handshake(d.port, "gpu-head.lab", moved.authority) == before


def test_a_certificate_that_the_next_start_could_not_use_is_refused_by_a_reload(serve, run, site, tmp_path):
    config, text = tmp_path / "c.yaml", (site.folder / "c.yaml").read_text()
    config.write_text(text)
    serve("--config", config)
    (tmp_path / "bad.pem").write_text("nonsense")
    config.write_text(text.replace(f"{site.folder}/site.pem", f"{tmp_path}/bad.pem"))
    done = run("reload", "--state-dir", "state")
    assert done.returncode == 1 and f"tls.certificate: {tmp_path}/bad.pem" in done.stderr, done.stderr


def test_a_reload_without_anything_to_reload(serve, state):
    d = serve()
    for _ in range(3):
        d.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "daemon.reloaded" in d.log)
    handshake(d.port, "localhost", state / "ca.pem")


@pytest.mark.parametrize("text, words", [
    ("certificate: /nowhere/a.pem", "c.yaml:1: tls.certificate: it needs tls.key"),
    ("key: /nowhere/a.key", "c.yaml:1: tls.key: it needs tls.certificate"),
    ("certificate: /nowhere/a.pem, key: /nowhere/a.key", "/nowhere/a.pem"),
    ("certificate: /etc/passwd, key: /etc/passwd", "/etc/passwd"),
])
def test_a_sites_certificate_that_is_none(run, tmp_path, text, words):
    (tmp_path / "c.yaml").write_text(f"tls: {{{text}}}\n")
    done = run("serve", "--config", "c.yaml", "--state-dir", "s")
    assert done.returncode == 78 and words in done.stderr, done.stderr
    checked = run("check-config", "c.yaml", "--state-dir", "s")
    assert checked.returncode == 1 and words in checked.stderr, checked.stderr


def test_a_key_of_another_certificate_is_said_before_anything_is_made(run, site, tmp_path):
    key = tmp_path / "other.key"
    key.write_text(openssl("genrsa", "2048").stdout)
    (tmp_path / "c.yaml").write_text(f"tls: {{certificate: {site.folder}/site.pem, key: {key}}}\n")
    for command, code in ((("serve", "--config", "c.yaml"), 78), (("check-config", "c.yaml"), 1)):
        done = run(*command, "--state-dir", "s")
        assert (done.returncode, done.stdout) == (code, "")
        assert f"tls.certificate: {key} is not the key of {site.folder}/site.pem" in done.stderr
    assert not (tmp_path / "s").exists()


def test_a_certificate_that_has_ended_is_said_and_shown(serve, run, tmp_path):
    site = Site(tmp_path / "old")
    site.sign(ended=True)
    done = run("check-config", site.folder / "c.yaml", "--state-dir", "s")
    assert done.returncode == 1 and "site.pem: the certificate ended at 20" in done.stderr, done.stderr
    d = serve("--config", site.folder / "c.yaml")
    assert "warn daemon.certificate_expired expired_at=20" in d.log
