# SPDX-License-Identifier: MIT
"""The login of the page: by user and password, by a token, by a link of `batchaid open`; its cookie, its end."""

from support.chromium import Browser
from support.waiting import wait_for


def test_a_user_logs_in_with_a_password_and_out_again(browser, shown, person):
    ada = person("Reader")
    browser.log_in(ada.name, ada.password).see(ada.name, "Your last jobs")
    (cookie,) = browser.cookies()
    assert cookie["name"] == f"__Host-batchaid-{shown.daemon.port}" and cookie["path"] == "/"
    assert cookie["httpOnly"] and cookie["secure"] and cookie["sameSite"] == "Strict"
    browser.click("Log out").see("Log in", "Password")
    assert browser.cookies() == []


def test_a_wrong_password_is_refused_in_words(browser, person):
    ada = person()
    ada.daemon.expect_log(f"login.failed .*{ada.name}")
    browser.expected.append("401")
    browser.open().type("User", ada.name).type("Password", "wrong").click("Log in")
    wait_for(lambda: browser.driver.find_elements("css selector", "[role=alert]"), 20, browser.text)
    assert browser.cookies() == [] and browser.find("button", "Log in")


def test_a_token_is_enough(browser, person):
    browser.open().type("Password", person("Reader").token()).click("Log in").see("Log out")


def test_a_link_of_the_command_logs_in_once(browser, shown):
    link = shown.daemon.tool("open", "--print").stdout.strip()
    browser.open(link).see("Log out")
    assert "code" not in browser.driver.current_url  # nor in the history
    shown.daemon.expect_log('login.failed .*"a link"')
    browser.expected.append("401")
    # Once more: the login goes on, and the reader is told.
    browser.open(link)
    wait_for(lambda: browser.driver.find_elements("css selector", ".notes .failed"), 20, browser.text)
    browser.see("Log out").click("Close")
    cookies = browser.cookies()
    browser.open(shown.daemon.tool("open", "--print").stdout.strip())  # one's own link needs no question
    wait_for(lambda: browser.cookies() not in ([], cookies), 20)
    assert browser.cookies() and not browser.find("button", "Log in")
    browser.forget()
    browser.expected.append("401")
    browser.open(link).see("Log in")
    assert browser.cookies() == []


def test_a_link_of_somebody_else_is_asked_about(browser, shown, person):
    """Another page may open it, so that the reader would work as somebody else without a word."""
    bob = person("Reader")
    cookies = browser.log_in(bob.name, bob.password).cookies()
    browser.open(shown.daemon.tool("open", "--print").stdout.strip()).see(f"You are logged in as {bob.name}. Use the link's login instead?")
    assert browser.cookies() == cookies
    browser.click(f"Stay logged in as {bob.name}").see(bob.name, "Log out")
    assert browser.cookies() == cookies
    browser.open(shown.daemon.tool("open", "--print").stdout.strip()).click("Use the link's login").see("batchaid Log out").see_none(bob.name)


def test_a_link_from_a_chat_shows_its_view(page):
    """The shell needs no login, which a Strict cookie would lack there; its requests are of the page."""
    page.driver.get("data:text/html,<title>a chat</title>")
    page.open(page.origin + "/#/jobs?state=failed").see("badly")
    assert "well" not in page.text()


def test_the_login_ends_with_a_new_password(browser, person):
    ada = person("Reader")
    browser.log_in(ada.name, ada.password)
    ada.daemon.call("POST", f"/batchaid/users/{ada.name}/reset", expect=200)
    browser.expected.append("401")
    browser.open("#/jobs").see("The login is over. Log in again.", limit=60)


def test_a_login_as_somebody_else_is_one_of_all_tabs(browser, shown, person):
    """The cookie is of all tabs, so no tab goes on as who was logged in before."""
    ada = person("Reader")
    first = browser.log_in(ada.name, ada.password).driver.current_window_handle
    browser.new_tab()
    browser.open(shown.daemon.tool("open", "--print").stdout.strip()).click("Use the link's login").see("batchaid Log out")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.see_none(ada.name).see("batchaid Log out", "live")


def test_without_scripts_the_page_says_what_answers(served):
    browser = Browser(served)
    try:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.driver.get(browser.origin)
        assert "batchaid az-login" in browser.driver.find_element("tag name", "body").text
    finally:
        browser.close()
