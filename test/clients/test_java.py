# SPDX-License-Identifier: MIT
"""com.microsoft.azure:azure-mgmt-batchai of Maven."""

import subprocess

import pytest
from support.clients import PROGRAMS, install, live, needs
from support.daemon import BUILD

HOME = BUILD / "clients" / "java"
LIFE = PROGRAMS / "java" / "src" / "main" / "java" / "Life.java"


@pytest.fixture(scope="module")
def classpath():
    """The published jars and the compiled program."""
    needs("java", "javac", "mvn")
    jars = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    install("azure-mgmt-batchai", jars, home=HOME, files=[PROGRAMS / "java" / "pom.xml"])
    path = f"{HOME}/classes:{HOME}/lib/*"
    done = subprocess.run(["javac", "-cp", path, "-d", HOME / "classes", LIFE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def truststore(daemon, tmp_path):
    """Java reads no PEM files: the daemon's authority in a store of Java's own."""
    store = tmp_path / "trust.p12"
    keytool = ["keytool", "-importcert", "-noprompt", "-alias", "batchaid", "-file", daemon.env["SSL_CERT_FILE"]]
    options = ["-keystore", store, "-storetype", "PKCS12", "-storepass", "batchaid"]
    subprocess.run([*keytool, *options], check=True, capture_output=True)
    return store


def test_the_life_of_a_cluster_and_a_job(daemon, group, classpath, truststore):
    trust = [f"-Djavax.net.ssl.trustStore={truststore}", "-Djavax.net.ssl.trustStorePassword=batchaid"]
    said = live(daemon, ["java", *trust, "-cp", classpath, "Life"], group)
    assert said == "ok java 2018-05-01"
