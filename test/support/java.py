# SPDX-License-Identifier: MIT
"""Programs in Java and the published jars that they use, from Maven."""

import subprocess

from .clients import install, needs
from .daemon import BUILD


def compiled(package, source, program, home=None):
    """The class path of a program of `source`, a folder with a pom.xml: its jars, and the classes."""
    needs("java", "javac", "mvn")
    home = home or BUILD / "clients" / f"java-{package}"
    jars = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    install(package, jars, home=home, files=[source / "pom.xml"])
    path = f"{home}/classes:{home}/lib/*"
    file = source / "src" / "main" / "java" / f"{program}.java"
    done = subprocess.run(["javac", "-cp", path, "-d", home / "classes", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def truststore(daemon, folder):
    """Java reads no PEM files: options by which it finds the daemon's authority in a store of Java's own."""
    store = folder / "trust.p12"
    keytool = ["keytool", "-importcert", "-noprompt", "-alias", "batchaid", "-file", daemon.env["SSL_CERT_FILE"]]
    options = ["-keystore", store, "-storetype", "PKCS12", "-storepass", "batchaid"]
    subprocess.run([*keytool, *options], check=True, capture_output=True)
    return [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=batchaid"]
