# SPDX-License-Identifier: MIT
"""Charts of samples that the test makes: values, gaps, colours, and a part that is chosen with the mouse."""

import pytest
from selenium.webdriver import ActionChains
from support.waiting import wait_for

# Two samples of twenty minutes ago, then none until half a minute ago; `extra` more come later. A second is 15 here: what is
# read each quarter of a minute is read each second.
SAMPLES = """const real = window.fetch, uPlot = window.uPlot, timer = window.setTimeout;
window.plots = []; window.extra = 0;
window.uPlot = class extends uPlot { constructor(...all) { super(...all); window.plots.push(this); } };
window.setTimeout = (work, ms, ...rest) => timer(work, ms === 15000 ? 1000 : ms, ...rest);
window.fetch = (path, options) => {
  const sample = (ago, cpuPermille) => ({time: new Date(Date.now() - ago * 1000).toISOString(), cpuPermille, gpus: []});
  if (!path.startsWith('/batchaid/samples')) return real(path, options);
  const more = Array.from({length: window.extra}, (_, n) => sample(14 - n, 800));
  return Promise.resolve(new Response(JSON.stringify({value: [sample(1200, 100), sample(1185, 300), sample(30, 500), sample(15, 700), ...more]})));
}; location.hash = '#/machine/spare.rack';"""
PLOT = "const plot = window.plots.filter((p) => p.root.isConnected && p.root.closest('[aria-label=Processor]')).at(-1); return "
# Use of days, which is asked for day by day; a report by the cluster waits for the test.
USE = """const real = window.fetch, uPlot = window.uPlot;
window.plots = []; window.waiting = new Promise((resolve) => { window.release = resolve; });
window.uPlot = class extends uPlot { constructor(...all) { super(...all); window.plots.push(this); } };
window.fetch = async (path, options) => {
  const url = new URL(path, location.href), use = {runs: 1, attempts: 1, gpuMilliseconds: 7200000, nodeMilliseconds: 3600000, coreMilliseconds: 0, waitMilliseconds: 0,
                                                   gpuBusyMilliseconds: 3600000, gpuIdleMilliseconds: 1800000, gpuUnknownMilliseconds: 1800000};
  if (url.pathname !== '/batchaid/usage') return real(path, options);
  if (url.searchParams.get('by') === 'cluster') await window.waiting;
  return new Response(JSON.stringify({value: [{name: url.searchParams.get('by'), ...use}], total: use}));
}; location.hash = '#/use?from=2026-01-01&to=2026-03-01';"""
# The painted points of the first series: from what they are painted between the second sample and the third, and all.
PAINTED = PLOT + """(() => {
  const {left, top, width, height} = plot.bbox, copy = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
  copy.drawImage(plot.ctx.canvas, left, top, width, height, 0, 0, width, height);
  const data = copy.getImageData(0, 0, width, height).data;
  const [r, g, b] = arguments[0], at = (time) => plot.valToPos(time, 'x', true) - left;
  const gap = [at(plot.data[0].at(-5) + 60), at(plot.data[0].at(-3) - 60)];
  let inside = 0, all = 0;
  for (let x = 0; x < width; x++) for (let y = 0; y < height; y++) {
    const i = (y * width + x) * 4;
    if (data[i] !== r || data[i + 1] !== g || data[i + 2] !== b || data[i + 3] !== 255) continue;
    all++;
    if (x > gap[0] && x < gap[1]) inside++;
  }
  return [inside, all];
})()"""


# An hour of eight GPUs, each at work to a share of its own, in one colour.
GPUS = """const real = window.fetch, uPlot = window.uPlot;
window.plots = [];
window.uPlot = class extends uPlot { constructor(...all) { super(...all); window.plots.push(this); } };
window.fetch = (path, options) => {
  if (!path.startsWith('/batchaid/samples')) return real(path, options);
  const gpus = Array.from({length: 8}, (_, index) => ({index, busyPermille: 30 + 120 * index, memoryUsedBytes: 0}));
  const value = Array.from({length: 240}, (_, n) => ({time: new Date(Date.now() - (240 - n) * 15000).toISOString(), gpus}));
  return Promise.resolve(new Response(JSON.stringify({value})));
};
for (let n = 0; n < 6; n++) document.documentElement.style.setProperty('--series-' + n, '#ff0000');
location.hash = '#/machine/spare.rack';"""
# Where the line of a series is painted, from the left to the right.
LINE = """const plot = window.plots.filter((p) => p.root.isConnected && p.root.closest('[aria-label="GPUs at work"]')).at(-1);
const {left, width} = plot.bbox, y = Math.floor(plot.valToPos(plot.data[arguments[0]].at(-2), 'y', true));
const copy = new OffscreenCanvas(width, 3).getContext('2d', {willReadFrequently: true});
copy.drawImage(plot.ctx.canvas, left, y - 1, width, 3, 0, 0, width, 3);
const data = copy.getImageData(0, 0, width, 3).data, isRed = (x) => [0, 1, 2].some((row) => data[(row * width + x) * 4 + 3] > 100 && data[(row * width + x) * 4 + 1] < 100);
return Array.from({length: width}, (_, x) => isRed(x) ? '#' : ' ').join('');"""


@pytest.fixture
def chart(page):
    page.driver.execute_script(SAMPLES)
    page.see("Processor as a table")
    wait_for(lambda: page.driver.execute_script(PLOT + "plot?.data[0].length"), 10)
    yield page
    page.prefer(prefers_color_scheme="light")


def colour(page, name="--series-0"):
    """[red, green, blue] of a colour of the page."""
    return page.driver.execute_script("""const c = document.createElement('canvas').getContext('2d');
        c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim(); c.fillRect(0, 0, 1, 1);
        return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3)""", name)


def span(page):
    return page.driver.execute_script(PLOT + "[plot.scales.x.min, plot.scales.x.max]")


def test_charts_have_their_values_in_words(chart):
    chart.click("Processor as a table", "summary").see("waited for")
    rows = chart.driver.execute_script("return [...document.querySelectorAll('details[open] tbody tr')].map(r => r.cells[1].innerText)")
    assert rows == ["10 %", "30 %", "50 %", "70 %"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_line_has_the_pages_colour_and_a_gap_where_samples_are_missing(chart, scheme):
    light = colour(chart)
    chart.prefer(prefers_color_scheme=scheme)
    wait_for(lambda: chart.driver.execute_script(PAINTED, colour(chart))[1] > 20, 10)
    assert chart.driver.execute_script(PAINTED, colour(chart))[0] == 0
    assert (colour(chart) == light) == (scheme == "light")


def test_lines_of_eight_gpus_differ_without_colours(page):
    page.driver.execute_script(GPUS)
    page.see("GPUs at work as a table")
    wait_for(lambda: page.driver.execute_script(LINE, 1).count("#") > 500, 10)
    lines = [page.driver.execute_script(LINE, n) for n in range(1, 9)]
    assert len(set(lines)) == 8 and all(line.count("#") > 100 for line in lines), "\n".join(lines)
    marks = page.driver.execute_script("""return [...document.querySelectorAll('[aria-label="GPUs at work"] .u-marker')].slice(1).map((m) => m.style.background)""")
    assert len(marks) == len(set(marks)) == 8 and all("gradient" in mark for mark in marks), marks


def test_a_part_that_was_chosen_stays_when_values_come(chart):
    whole = span(chart)
    box = chart.driver.execute_script(PLOT + "plot.over")
    chart.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
    third = box.size["width"] // 3
    ActionChains(chart.driver).move_to_element_with_offset(box, -third, 0).click_and_hold().move_by_offset(third, 0).release().perform()
    part = wait_for(lambda: span(chart) != whole and span(chart), 10)
    assert whole[0] < part[0] < part[1] < whole[1]
    chart.driver.execute_script("window.extra = 3")
    wait_for(lambda: 80 in chart.driver.execute_script(PLOT + "plot.data[1]"), 20)
    assert span(chart) == part
    chart.driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))", box)
    wait_for(lambda: span(chart)[1] - span(chart)[0] > 0.9 * (whole[1] - whole[0]), 10)


def test_days_of_use_are_drawn_whole_and_say_which_they_are(page):
    page.driver.execute_script(USE)
    page.see("GPU hours a day (UTC) as a table", "The chart has the last 31 days.")
    plot = "const plot = window.plots.at(-1); return "
    low, high, first, last = page.driver.execute_script(plot + "[plot.scales.x.min, plot.scales.x.max, plot.data[0][0], plot.data[0].at(-1)]")
    assert (low, high) == (first - 43200, last + 43200) and last - first == 30 * 86400
    page.choose("By", "cluster").see_none("user\t")
    assert "GPU hours a day (UTC) as a table" in page.text()
    page.driver.execute_script("window.release()")
    page.see("cluster\t1\t2\t1")
    bar = page.driver.find_element("css selector", "tbody .bars")
    assert bar.get_attribute("aria-label") == "1 h busy, 0.5 h idle, 0.5 h unknown"
