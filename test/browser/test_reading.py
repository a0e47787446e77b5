# SPDX-License-Identifier: MIT
"""By keyboard alone, on a phone, in the dark, with many rows."""

from support.chromium import By, Keys
from support.waiting import wait_for


def test_the_keyboard_alone_reaches_a_story(page):
    page.open("#/jobs").see("well", "badly")
    row = wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, "tr[tabindex='0']"), 20)[0]
    for _ in range(60):  # from the beginning of the page, by the key Tab alone
        if page.focused() == row:
            break
        page.press("TAB")
    assert page.focused() == row
    page.press("ARROW_DOWN")
    wait_for(lambda: page.focused().get_attribute("data-index") == "1", 20)
    page.press("SPACE")
    page.see("1 chosen")
    page.press("SPACE")
    page.press("ENTER").see("Submitted", "batchaid explain")
    assert page.focused().tag_name == "main"


def test_a_dialog_is_left_by_escape(page):
    page.open("#/people").click("Add a user").see("Add a user")
    wait_for(lambda: page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), 20)
    page.press("ESCAPE")
    wait_for(lambda: not page.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), 20)


def test_the_skip_link_is_the_first(page):
    page.open("#/jobs")
    page.driver.refresh()
    page.see("well").press("TAB")
    assert page.focused().text == "To the content"
    page.focused().send_keys(Keys.ENTER)
    wait_for(lambda: page.focused().tag_name == "main", 20)


def test_a_phone_needs_no_sideways_scroll(page):
    page.resize(360, 740)
    for view in ("overview", "queue", "jobs", "machines", "use", "batch", "storage", "people", "job/lab/work/exp/well", "job/lab/work/exp/well/logs"):
        page.open(f"#/{view}").see("The same as a command:")
        wide = page.driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 360, f"{view} is {wide} pixels wide"


def test_the_dark_page_has_light_letters(page):
    def paper():
        return page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(255, 255, 255)"
    page.prefer(prefers_color_scheme="dark")
    assert paper() == "rgb(20, 24, 29)"
    page.prefer(prefers_color_scheme="light")


def test_states_differ_without_colours(page):
    page.open("#/jobs").see("✓ succeeded", "✕ failed", "▶ running")
