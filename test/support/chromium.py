# SPDX-License-Identifier: MIT
"""A real Chromium that looks at the page of a daemon. It trusts the daemon's authority as a reader's browser does, by an
entry in its store of certificates: no error is ignored. What went wrong in the page is judged at the end: errors in the
console, requests to others than the daemon."""

import ctypes
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.action_chains import ActionChains

from .waiting import wait_for

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
OWN = ("data:", "blob:", "about:", "chrome:", "chrome-extension:", "devtools:")  # the viewer of PDF is an extension of its own
NAMED = ("//{tag}[normalize-space(.)={text} or @aria-label={text}]", "//{tag}[contains(normalize-space(.), {text})]")


def as_xpath(text):
    return "concat(%s)" % ", ".join(f"'{part}'" if part != "'" else '"\'"' for part in ["", *text.replace("'", "\0'\0").split("\0")])


CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def own_network():
    """This process and its children get a loopback of their own, if they may: Chromium drops its connections
    (ERR_NETWORK_CHANGED) when an interface of the machine comes or goes, as those of other tests do."""
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name, flags = struct.unpack("16sh", fcntl.ioctl(s, SIOCGIFFLAGS, struct.pack("16sh", b"lo", 0)))
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh", name, flags | IFF_UP))


class Browser:
    """A Chromium with a folder of its own. close() returns what was wrong."""

    def __init__(self, daemon, size=(1200, 800)):
        self.daemon = daemon
        self.origin = f"https://localhost:{daemon.port}"
        self.home = tempfile.mkdtemp(prefix="batchaid-browser-")
        self._trust(daemon.env["SSL_CERT_FILE"])
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={self.home}/profile",
                         "--disable-background-networking", "--no-first-run"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER, env={**os.environ, "HOME": self.home}), options=options)
        self.resize(*size)
        self.expected = []  # parts of console errors that a test provokes
        self.errors, self.requests = [], []

    def _trust(self, authority):
        """Chromium reads the store of the user; newer releases have moved it."""
        for place in (".pki/nssdb", ".local/share/pki/nssdb"):
            store = f"sql:{self.home}/{place}"
            os.makedirs(f"{self.home}/{place}")
            subprocess.run(["certutil", "-d", store, "-N", "--empty-password"], check=True)
            subprocess.run(["certutil", "-d", store, "-A", "-t", "C,,", "-n", "batchaid", "-i", authority], check=True)

    # --- what is set ----------------------------------------------------------------------------

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def prefer(self, **features):
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def new_tab(self):
        self.driver.switch_to.new_window("tab")
        return self.driver.current_window_handle

    def cookies(self):
        return self.driver.execute_cdp_cmd("Network.getCookies", {"urls": [self.origin]})["cookies"]

    def forget(self):
        """As a browser that was never here."""
        self._note()
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": "all"})
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})

    # --- what a reader does ---------------------------------------------------------------------

    def open(self, address=""):
        """#/jobs, or a whole URL."""
        url = address if "://" in address else f"{self.origin}/{address}"
        if self.driver.current_url.split("#")[0] == url.split("#")[0] and "#" in url:
            self.driver.execute_script("location.hash = arguments[0]", url.split("#", 1)[1])
        else:
            self.driver.get(url)
        return self

    def log_in(self, user=None, secret=None):
        """As a person with a password; without a name as the daemon's own principal, by a link of `batchaid open`."""
        if user is None:
            link = self.daemon.tool("open", "--print").stdout.strip()
            self.open(link)
        else:
            self.open()
            self.type("User", user)
            self.type("Password", secret)
            self.click("Log in")
        self.see("Log out")
        return self

    def text(self):
        return self.driver.execute_script("return document.body ? document.body.innerText : ''")

    def see(self, *texts, limit=20):
        def seen():
            shown = self.text()
            return all(text in shown for text in texts)

        wait_for(seen, limit, lambda: f"the page has not shown {texts}, but:\n{self.text()[:3000]}\nconsole: {self.console()}")
        return self

    def see_none(self, text, limit=20):
        wait_for(lambda: text not in self.text(), limit, lambda: f"the page still shows {text!r}:\n{self.text()[:3000]}")
        return self

    def find(self, tag, text):
        """Looks again when the page draws an element anew meanwhile."""
        while True:
            try:
                return next((element for way in NAMED for element in self.driver.find_elements(
                    By.XPATH, way.format(tag=tag, text=as_xpath(text))) if element.is_displayed()), None)
            except StaleElementReferenceException:
                pass

    def click(self, text, tag="*[self::button or self::a]"):
        def clicked():
            element = self.find(tag, text)
            try:
                if element is None or not element.is_enabled():
                    return False
                element.click()
                return True
            except StaleElementReferenceException:
                return False

        wait_for(clicked, 20, lambda: f"there is nothing to click called {text!r}:\n{self.text()[:3000]}")
        return self

    def field(self, label):
        return wait_for(lambda: next(iter(self.driver.find_elements(
            By.XPATH, f"//label[starts-with(normalize-space(.), {as_xpath(label)})]//*[self::input or self::select]")), None), 20,
            lambda: f"there is no field {label!r}:\n{self.text()[:3000]}")

    def type(self, label, text):
        # As a reader does: clear() makes no event that the page hears, which may draw the old text again meanwhile.
        self.field(label).send_keys(Keys.CONTROL, "a", Keys.NULL, text)
        return self

    def choose(self, label, value):
        option = f".//option[normalize-space(.)={as_xpath(value)}]"
        wait_for(lambda: self.field(label).find_elements(By.XPATH, option), 20, lambda: f"{label!r} has no {value!r}")[0].click()
        return self

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*(getattr(Keys, key) if hasattr(Keys, key) else key for key in keys)).perform()
        return self

    def focused(self):
        return self.driver.switch_to.active_element

    def rows(self):
        """The texts of the rows of the list that are drawn."""
        return self.driver.execute_script("return [...document.querySelectorAll('.list tbody tr[data-index]')].map(r => r.innerText)")

    def choose_rows(self, *names):
        for name in names:
            box = f"//tr[.//a[normalize-space(.)={as_xpath(name)}] or td[normalize-space(.)={as_xpath(name)}]]//input[@type='checkbox']"
            wait_for(lambda box=box: self.driver.find_elements(By.XPATH, box), 20, lambda name=name: f"no row {name!r}: {self.rows()}")[0].click()
        return self

    # --- what is judged -------------------------------------------------------------------------

    def _note(self):
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self.errors.append(entry["message"])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])

    def console(self):
        self._note()
        return self.errors

    def complaints(self):
        self._note()
        errors = [e for e in self.errors if not any(part in e for part in self.expected)]
        others = [url for url in self.requests if not url.startswith((self.origin + "/", *OWN))]
        self.errors, self.requests, self.expected = [], [], []
        return [f"in the console: {e}" for e in errors] + [f"asked another than the daemon: {url}" for url in others]

    def picture(self, path):
        self.driver.save_screenshot(str(path))

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.home, ignore_errors=True)
