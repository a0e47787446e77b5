# SPDX-License-Identifier: MIT
"""Changes appear by themselves: in twelve tabs at once, after a restart of the daemon, with the network gone for a while."""

from support.chromium import Browser
from support.waiting import wait_for
from support.world import fresh, wait_flag


def test_a_job_appears_and_ends_without_a_reload(page, shown):
    page.open("#/jobs").see("live", "well")
    job = shown.job("sleep 1").succeeded()
    page.see(job.name)
    wait_for(lambda: any(job.name in row and "succeeded" in row for row in page.rows()), 20, page.text)


def test_a_later_index_of_an_array_appears_in_the_queue(page, shown):
    """It starts and ends without an event."""
    host, flag = shown.place.flag(fresh("go"))
    job = shown.job(f'[ "$BATCHAID_ARRAY_INDEX" = 1 ] || {{ {wait_flag(flag)}; exit; }}; sleep 1000',
                    environmentVariables=[{"name": "BATCHAID_JOB_ARRAY", "value": "0-1"}])

    def runs(index):
        return any(f"{job.name} [{index}]" in row and "ends by" in row for row in page.rows())

    page.open("#/queue").see("live")
    wait_for(lambda: runs(0) and not runs(1), 30, page.text)
    host.touch()
    wait_for(lambda: runs(1) and not runs(0), 40, page.text)
    job.terminate()


def test_a_task_of_azure_batch_appears_without_a_reload(page, batch):
    page.open("#/batch").click("job1").see("task1")
    batch.job.done("/bin/true", id="task2")
    page.see("task2")


def test_a_user_appears_without_a_reload(page, person):
    page.open("#/people").see("Roles")
    page.see(person().name, limit=40)


def test_a_file_of_a_share_appears_without_a_reload(page, shown):
    page.open("#/storage").see("acct").click("out").see("Name")
    name = fresh("file")
    (shown.place.share() / name).write_text("new")
    page.see(name, limit=40)


def test_ages_grow_without_a_change(page):
    def row():
        return next((row for row in page.rows() if "well" in row), None)

    page.open("#/jobs").see("well")
    first = row()
    wait_for(lambda: row() != first, 30)


def test_ages_are_of_the_daemons_clock(page):
    """A browser's clock may be wrong, by three hours here."""
    wrong = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "{ const now = Date.now; Date.now = () => now() + 3 * 3600000; }"})
    try:
        page.driver.refresh()
        page.open("#/jobs").see("well", "live")
        assert page.driver.execute_script("return Date.now() - performance.timeOrigin") > 3 * 3600000
        assert not any(" h " in row.split("ago")[0] for row in page.rows()), page.rows()
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", wrong)


def test_charts_are_not_read_for_each_change(page, shown):
    """Samples come every 15 seconds, changes of a busy site many times a second."""
    page.open("#/machines").see("rack")
    page.click(next(row for row in page.rows() if "running" in row).split("\t")[1].strip()).see("What it did", "live")
    page.complaints()
    for _ in range(4):
        shown.job("true").succeeded()
    page.console()
    asked = [url for url in page.requests if "/batchaid/samples" in url]
    assert len(asked) <= 2, asked


def test_a_stream_that_is_refused_is_told_apart_from_a_daemon_that_is_gone(page):
    refused = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """const Real = window.EventSource;
        window.EventSource = class extends Real { constructor(url) { super(window.isFine ? url : '/batchaid/nothing'); } };"""})
    try:
        page.expected += ["404", "nothing"]
        page.driver.refresh()
        page.see("refused")
        assert "does not tell of changes now" in page.driver.find_element("css selector", ".live").get_attribute("title")
        page.driver.execute_script("window.isFine = true")
        page.see("live")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", refused)


def test_a_new_role_has_its_buttons_without_a_reload(browser, shown, person):
    ada = person("Reader")
    browser.log_in(ada.name, ada.password).open("#/machines").see("live", "spare.rack")
    assert not browser.driver.find_elements("css selector", "td.pick")
    ada.give("Contributor")
    wait_for(lambda: browser.driver.find_elements("css selector", "td.pick"), 15)


def test_a_role_that_is_taken_away_takes_its_buttons_without_a_reload(browser, shown, person):
    """The last role: the stream of events ends with it."""
    browser.expected.append("403")
    ada = person("Contributor")
    browser.log_in(ada.name, ada.password).open("#/machines").see("live", "spare.rack")
    wait_for(lambda: browser.driver.find_elements("css selector", "td.pick"), 15)
    ada.take_all()
    wait_for(lambda: not browser.driver.find_elements("css selector", "td.pick"), 15)


def test_a_login_that_has_ended_is_told_to_the_page(browser, person):
    ada = person("Reader")
    browser.expected.append("401")
    browser.log_in(ada.name, ada.password).open("#/jobs").see("live")
    ada.remove()
    browser.see("The login is over. Log in again.", limit=30)


def test_twelve_tabs_have_one_stream(page, shown):
    tabs = [page.driver.current_window_handle] + [page.new_tab() for _ in range(11)]
    try:
        for tab in tabs:
            page.driver.switch_to.window(tab)
            page.open("#/jobs").see("live", "well")
        job = shown.job("true").succeeded()
        for tab in tabs:  # each, when it is looked at
            page.driver.switch_to.window(tab)
            page.see(job.name)
        page.complaints()
        streams = [url for url in page.requests if "/events/stream" in url]
        assert len(streams) <= 1, streams
        # The page that reads is closed: another reads on.
        page.driver.switch_to.window(tabs[0])
        page.driver.close()
        page.driver.switch_to.window(tabs[1])
        job = shown.job("true").succeeded()
        page.see(job.name)
    finally:
        for tab in tabs[2:]:
            page.driver.switch_to.window(tab)
            page.driver.close()
        page.driver.switch_to.window(tabs[1])


def test_after_a_restart_of_the_daemon_the_page_is_right_again(own_daemon):
    from support.world import Place

    d = own_daemon()
    place = Place(d).make()
    cluster = place.cluster()
    browser = Browser(d)
    try:
        browser.log_in().open("#/jobs").see("No job fits these filters.", "live")
        d.stop()
        browser.see("broken", limit=30)
        d.start()
        browser.see("live", limit=60)
        job = place.job(cluster, "true").succeeded()
        browser.see(job.name, limit=30)
        browser.expected += ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "net::ERR"]
        assert not browser.complaints()
    finally:
        browser.close()
