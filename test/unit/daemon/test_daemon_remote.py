# SPDX-License-Identifier: MIT
"""`batchaid env --endpoint --user`: lines that a shell of another machine reads. az is a function that
notes what it is asked."""
import re
import subprocess

import pytest
import requests

AZ = 'az() { echo "$@" >>"$HOME/az"; mkdir -p "$AZURE_CONFIG_DIR"; echo "[batchaid]" >"$AZURE_CONFIG_DIR/clouds.config"; }\n'


@pytest.fixture
def daemon(serve, run, tmp_path):
    return serve()


@pytest.fixture
def ada(run, daemon):
    """Her password."""
    return run("user", "--state-dir", "state", "add", "ada").stdout.splitlines()[1]


@pytest.fixture
def lines(run, daemon):
    def printed(*arguments):
        done = run("env", "--state-dir", "state", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return printed


@pytest.fixture
def laptop(tmp_path):
    """laptop(LINES) -> (what variables there are then, what was complained of)"""
    home = tmp_path / "laptop"
    home.mkdir()

    def paste(text, **more):
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin", **more}
        done = subprocess.run(["sh", "-c", f"{AZ}{text}\nenv -0"], env=env, cwd=home, capture_output=True,
                              text=True, timeout=60)
        return dict(v.split("=", 1) for v in done.stdout.split("\0") if "=" in v), done.stderr

    paste.home = home
    return paste


def token(seen, **form):
    reply = requests.post(seen["BATCHAID_ENDPOINT"] + "/adfs/oauth2/token", timeout=30,
                          verify=seen["REQUESTS_CA_BUNDLE"], data={"client_id": seen["AZURE_CLIENT_ID"], **form})
    assert reply.status_code == 200, reply.text
    return reply.json()["access_token"]


def test_a_users_lines(daemon, ada, lines, laptop, tmp_path):
    text = lines("--endpoint", f"https://LOCALHOST:{daemon.port}/", "--user", "ada")
    assert ada not in text and str(tmp_path) not in text
    seen, complaints = laptop(text, AZURE_CLIENT_SECRET="of another cloud", AZURE_CLOUD_NAME="another")
    assert complaints == ""
    url, folder = f"https://localhost:{daemon.port}", laptop.home / ".batchaid" / f"localhost-{daemon.port}"
    assert seen["BATCHAID_ENDPOINT"] == seen["AZURE_AUTHORITY_HOST"] == url
    assert seen["AZURE_CONFIG_DIR"] == str(folder) and folder.stat().st_mode & 0o777 == 0o700
    assert seen["AZURE_USERNAME"] == "ada@batchaid" and seen["AZURE_TENANT_ID"] == "adfs"
    assert "AZURE_CLIENT_SECRET" not in seen and "AZURE_CLOUD_NAME" not in seen
    for name in ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"):
        assert seen[name] == str(folder / "ca.pem")
    assert (folder / "ca.pem").read_text() == (tmp_path / "state/ca.pem").read_text()
    assert token(seen, grant_type="password", username=seen["AZURE_USERNAME"], password=ada)
    register, choose = (laptop.home / "az").read_text().splitlines()
    assert register.startswith("cloud register -n batchaid") and f'"{url}/adfs"' in register
    assert f'"core.localhost:{daemon.port}"' in register and choose.startswith("cloud set -n batchaid")


def test_the_same_lines_twice(daemon, ada, lines, laptop):
    text = lines("--user", "ada@batchaid")
    assert laptop(text)[1] == laptop(text)[1] == ""
    assert "cloud update -n batchaid" in (laptop.home / "az").read_text()


def test_the_daemons_own_principal(daemon, lines, laptop):
    seen, complaints = laptop(lines("--endpoint", f"https://127.0.0.1:{daemon.port}"), AZURE_USERNAME="ada")
    assert complaints == "" and "AZURE_USERNAME" not in seen
    assert token(seen, grant_type="client_credentials", client_secret=seen["AZURE_CLIENT_SECRET"])


def test_another_daemon_is_not_trusted(daemon, ada, lines, laptop, serve, tmp_path):
    text = lines("--endpoint", f"https://localhost:{daemon.port}", "--user", "ada")
    other = serve("--state-dir", tmp_path / "other")
    seen, complaints = laptop(text.replace(f":{daemon.port}", f":{other.port}"))
    assert "is not trusted" in complaints
    assert not (laptop.home / seen["SSL_CERT_FILE"]).exists()
    assert not (laptop.home / "az").exists(), "az is told of nobody who is not trusted"


def test_nobody_answers(daemon, ada, lines, laptop):
    text = lines("--endpoint", f"https://localhost:{daemon.port}", "--user", "ada")
    daemon.stop()
    seen, complaints = laptop(text)
    assert "Failed to connect" in complaints and "is not trusted" in complaints
    assert not (laptop.home / seen["SSL_CERT_FILE"]).exists()


@pytest.mark.parametrize("url", ["https://gpu-head.lab:7443", "https://10.11.12.13:7443"])
def test_a_name_that_the_certificate_does_not_have(daemon, run, url):
    done = run("env", "--state-dir", "state", "--endpoint", url)
    assert (done.returncode, done.stdout) == (1, "")
    assert url in done.stderr and "tls.names" in done.stderr


def test_a_configured_name(serve, run, tmp_path):
    (tmp_path / "names.yaml").write_text("tls: {names: [gpu-head.lab]}\n")
    serve("--config", tmp_path / "names.yaml")
    done = run("env", "--state-dir", "state", "--endpoint", "https://gpu-head.lab")
    assert "export BATCHAID_ENDPOINT='https://gpu-head.lab'\n" in done.stdout, done.stderr
    assert '"core.gpu-head.lab"' in done.stdout


def test_a_name_with_the_sites_certificate(serve, run, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "key.pem", "-out",
                    "cert.pem", "-days", "30", "-subj", "/CN=site", "-addext", "subjectAltName=DNS:gpu-head.lab"],
                   cwd=tmp_path, check=True, capture_output=True)  # fmt: skip
    (tmp_path / "site.yaml").write_text(
        f"tls: {{names: [gpu-head.lab, other.lab], certificate: {tmp_path}/cert.pem, key: {tmp_path}/key.pem}}\n")
    serve("--config", tmp_path / "site.yaml")
    done = run("env", "--state-dir", "state", "--endpoint", "https://gpu-head.lab")
    assert (done.returncode, done.stdout) == (1, "") and "tls.certificate" in done.stderr
    assert run("env", "--state-dir", "state", "--endpoint", "https://other.lab").returncode == 0


def test_an_unknown_user(daemon, run):
    done = run("env", "--state-dir", "state", "--user", "bob")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no user 'bob'" in done.stderr and "batchaid user add bob" in done.stderr


def test_what_to_do_with_them_is_said_beside_them(daemon, ada, run):
    users = run("env", "--state-dir", "state", "--user", "ada").stderr
    assert "az login --username" in users and "secret" not in users
    own = run("env", "--state-dir", "state", "--endpoint", f"https://localhost:{daemon.port}").stderr
    assert "--service-principal" in own and "--user NAME" in own


def test_the_fingerprint_is_what_openssl_says(daemon, ada, lines, tmp_path):
    said = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", tmp_path / "state/ca.pem"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert re.search(r"= ((?:[0-9A-F]{2}:){31}[0-9A-F]{2}) ", lines("--user", "ada")).group(1) in said


@pytest.mark.parametrize("url", [
    "gpu-head.lab", "gpu-head.lab:7443", "http://gpu-head.lab:7443", "https://", "https://:7443",
    "https://gpu-head.lab:", "https://gpu-head.lab:0", "https://gpu-head.lab:65536", "https://gpu-head.lab:7443/x",
    "https://me@gpu-head.lab", "https://a'b", 'https://a"$(id)', "https://[::1", "https://[x]:7443", "https://fd00::1",
])
def test_what_is_no_endpoint(run, url):
    done = run("env", "--endpoint", url)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{url}' is not a valid endpoint" in done.stderr and "https://gpu-head.lab:7443" in done.stderr
