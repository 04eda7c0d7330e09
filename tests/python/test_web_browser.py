"""The page that runs by itself in a real browser, opened from disk: no request, the numbers of the command line."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

import aqmlab
from aqmlab.lab.page import BUILT_IN, standalone_page
from aqmlab.results.quantities import quantity
from browser_core import wasm_path
from measure_lab import browser_path, lines, opened_page, press
from test_report_access import RULES

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here"),
]
MAX_TH = "queue.bottleneck.max_th"
CELLS = "[...document.querySelectorAll('#numbers td')].map((cell) => [cell.dataset.key, cell.textContent])"


@pytest.fixture(scope="module")
def browsed(tmp_path_factory):
    """One browser for all tests, with its page's console output and requests."""
    wasm_path()
    file = tmp_path_factory.mktemp("page") / "lab.html"
    file.write_text(standalone_page(), encoding="utf-8")
    with opened_page(file.as_uri()) as page:
        page.console, page.asked = [], []
        page.on("console", lambda line: page.console.append(line.text))
        page.on("pageerror", lambda error: page.console.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.home = file.as_uri()
        yield page


@pytest.fixture
def page(browsed):
    """The page as it is when it is opened."""
    browsed.console.clear()
    browsed.asked.clear()
    browsed.goto("about:blank")
    browsed.goto(browsed.home)
    browsed.wait_for_selector("html[data-drawn]", state="attached")
    yield browsed
    assert browsed.console == []


def settled(page, number):
    page.wait_for_selector(f'html[data-drawn="{number}"]', state="attached")


def fill(page, key, value):
    field = f'[data-key="{key}"] input[type=number]'
    page.fill(field, str(value))
    page.press(field, "Enter")


def check_numbers(page, overrides):
    """Compare the numbers of the page with those of the command line."""
    values = aqmlab.run(BUILT_IN, seeds=1, overrides=overrides, workers=1, progress=False).metrics(link="bottleneck")
    shown = page.evaluate(CELLS)
    known = {key: quantity(key) for key, _ in shown}
    assert shown == [[key, f"{one.scale * values[key].iloc[0]:.{one.shown_digits}f}"] for key, one in known.items()]
    assert len(shown) >= 7


def test_it_asks_nobody_and_shows_the_numbers_of_the_native_core(page):
    check_numbers(page, {})
    press(page, MAX_TH)
    check_numbers(page, {MAX_TH: "31p"})
    assert page.text_content("#command") == f"aqmlab run {BUILT_IN} --seeds 1 --set {MAX_TH}=31p"
    assert [url for url in page.asked if not url.startswith(("file:", "blob:", "data:", "about:"))] == []
    assert [url for url in page.asked if url.startswith("file:")] == [page.home]


def test_a_slider_redraws_all_of_the_run(page):
    before = lines(page)
    press(page, MAX_TH)
    assert lines(page) != before
    assert re.match(r"30 s simulated; seed 1; drawn after \d+ ms\.", page.text_content("#status"))


def test_two_disciplines_on_the_same_traffic(page):
    page.select_option('[data-key="beside"] select', "codel")
    settled(page, 2)
    assert page.locator("#numbers tr th[scope=row]").all_text_contents() == ["red", "codel"]
    assert len(page.text_content("#command").splitlines()) == 2


def test_a_link_opens_the_same_setting(page):
    press(page, MAX_TH)
    link, shown = page.text_content("#link"), page.evaluate(CELLS)
    assert link == page.evaluate("location.href")
    assert json.loads(unquote(link.partition("#set=")[2])) == {MAX_TH: 31}
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("html[data-drawn]", state="attached")
    assert page.evaluate(CELLS) == shown
    assert page.input_value(f'[data-key="{MAX_TH}"] input[type=number]') == "31"


def test_a_damaged_link_is_one_line(page):
    page.goto("about:blank")
    page.goto(f"{page.home}#set={quote(json.dumps({'nonsense': 1}))}")
    page.wait_for_selector("#error:visible")
    expected = 'The address of this page: set: "nonsense" is not among the controls of red.'
    assert page.text_content("#error") == expected


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("set=5", 'set: "5" cannot be used (allowed: a JSON object of settings, such as {"aqm":"red"})'),
        ("set=[1]", 'set: "[1]" cannot be used'),
        ("set=null", 'set: "null" cannot be used'),
        ("set={", 'set: "{" cannot be used'),
        ('set={"aqm":{}}', "cannot be used"),
        ('set={"aqm":"nope"}', "set: aqm: is none of drop-tail"),
        ('set={"__proto__":1}', 'set: "__proto__" is not among the controls of red'),
        ('set={"seed":1e999}', "set: seed: is out of range"),
        ("preset=nope", 'preset: "nope" cannot be used (allowed: '),
        ("knobs=nope", 'knobs: nothing is called "nope" (allowed: aqm, '),
        ("show=nope,queue", 'show: nothing is called "nope" (allowed: '),
        ("numbers=nope", 'numbers: nothing is called "nope" (allowed: goodput_mbps, '),
        (
            "uplink=fast",
            'uplink: "fast" cannot be used (allowed: a rate in Mbit/s and a round trip in ms, such as 20,40)',
        ),
        ("keep=maybe", 'keep: "maybe" cannot be used (allowed: yes)'),
        (
            "sett=5",
            'unknown parameter "sett" (allowed: set, preset, scenario, knobs, show, keep, ask, numbers, uplink)',
        ),
        ("set={}&set=5", "set: is given twice; the first counts"),
        ("%E0%A4%A=%", 'unknown parameter "'),
        ("nowhere", 'unknown parameter "nowhere"'),
    ],
)
def test_a_malformed_address_opens_the_page_with_a_message(page, address, complaint):
    page.goto("about:blank")
    page.goto(f"{page.home}#{address}")
    page.wait_for_selector("html[data-drawn]", state="attached")
    shown = page.text_content("#error")
    assert shown.startswith("The address of this page: ")
    assert complaint in shown
    assert page.locator("#chart-queue").is_visible()
    assert page.locator("#controls [data-key]").count() > 3
    press(page, MAX_TH)
    assert page.locator("#error").is_hidden()


def test_skipping_to_the_charts_keeps_the_setting(page):
    press(page, MAX_TH)
    page.evaluate("location.hash = 'charts'")
    press(page, MAX_TH)
    assert page.input_value(f'[data-key="{MAX_TH}"] input[type=number]') == "32"
    assert page.locator("#error").is_hidden()


def test_a_scenario_of_the_address_that_is_not_valid_is_shown_with_its_line(page):
    page.goto("about:blank")
    page.goto(f"{page.home}#scenario=nonsense")
    page.wait_for_selector("#error:visible")
    assert page.locator("#problems li").count() == 1


def test_an_error_of_the_scenario_is_shown_at_its_line(page):
    page.click("#edit summary")
    text = page.input_value("#source")
    page.fill("#source", text.replace("min_th =", "min_tth ="))
    page.click("#use")
    page.wait_for_selector("#problems li")
    line = next(number for number, row in enumerate(text.splitlines(), 1) if row.startswith("min_th"))
    problem = page.text_content("#problems li")
    assert problem.startswith(f"Line {line}, column 1: queue.bottleneck.min_tth: ")
    chosen = "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))"
    assert page.evaluate(f"{chosen}(document.activeElement)") == 'min_tth = "10p"'
    page.fill("#source", text.replace('rate = "10Mbps"', 'rate = "5Mbps"'))
    page.click("#use")
    page.wait_for_selector("#error", state="hidden")
    expect(page.locator("[data-key=rate] input[type=number]")).to_have_value("5")
    assert page.locator("#problems li").count() == 0
    assert "scenario=" in page.evaluate("location.hash")


def test_a_scenario_of_a_paper_is_a_choice_of_the_menu(page):
    page.select_option("#preset", label="MRED, TCP flows")
    page.wait_for_selector('#title:has-text("mred-sole")')
    assert page.text_content("#command") == "aqmlab run paper:mred/sole.toml --seeds 1"
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector('#title:has-text("mred-sole")')
    assert page.text_content("#preset option:checked") == "MRED, TCP flows"
    page.click("#reset")
    page.wait_for_selector('#title:has-text("dumbbell")')
    assert page.text_content("#preset option:checked") == BUILT_IN


def test_a_run_that_is_too_large_is_refused(page):
    fill(page, "rate", 5000)
    page.wait_for_selector("#error:visible")
    assert "million packets over links to simulate" in page.text_content("#error")
    fill(page, "rate", 20)
    page.wait_for_selector("#error", state="hidden")


def test_a_long_run_can_be_cancelled(page):
    fill(page, "flow.tcp.count", 100)
    fill(page, "rate", 100)
    # The longest run that a page takes on is over in a second on a fast machine: the page itself presses the button.
    page.evaluate("""() => {
        const button = document.getElementById("cancel");
        const seconds = document.querySelector('[data-key="seconds"] input[type=number]');
        window.pressing = new MutationObserver(() => {
            if (button.hidden || seconds.value !== "600") { return; }
            window.shown = document.getElementById("status").textContent;
            button.click();
        });
        window.pressing.observe(button, { attributes: true, attributeFilter: ["hidden"] });
    }""")
    fill(page, "seconds", 600)
    page.wait_for_selector("#error:visible")
    assert page.evaluate("window.shown").startswith("Simulating: ")
    assert page.text_content("#error") == "Cancelled. Any change of a setting runs again."
    assert page.is_hidden("#cancel")
    page.evaluate("window.pressing.disconnect()")
    # As a button of HTML it is pressed by the keyboard too.
    assert page.evaluate("document.getElementById('cancel').tagName") == "BUTTON"
    fill(page, "seconds", 20)
    page.wait_for_selector('#status:has-text("20 s simulated")')


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_nothing_and_nothing_sticks_out(page, theme, width):
    spec = find_spec("axe_core_python")
    if spec is None or spec.origin is None:
        pytest.skip("no axe-core here")
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate((Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    # Its settings are open, then the other page of the laboratory is shown.
    page.evaluate("document.getElementById('panel').classList.add('open')")
    for link in (None, "#to-uplink"):
        if link:
            page.click(link)
            page.wait_for_selector("html[data-uplink]", state="attached")
        found = page.evaluate("(rules) => axe.run(document, { runOnly: rules })", RULES)
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1400, "height": 1000})


def test_the_keyboard_reaches_the_scenario_and_the_buttons(page):
    page.focus("#charts .plot")
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.dataset.of || ''"))
    assert {"command", "text", "link"} <= set(seen)
    page.focus("#edit summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "source"


def shown_queue(page):
    page.wait_for_selector("#stage[data-shown]", state="attached")
    page.click("#play")
    assert page.text_content("#play") == "Play"
    return page.text_content("#queue-words")


def test_the_queue_can_be_watched_packet_by_packet(page):
    before = shown_queue(page)
    assert re.match(r"red: \d+ packets wait.*; 10\.\d{4} s", before)
    page.focus("#step")
    page.keyboard.press("Enter")
    assert re.search(r"10\.\d{4} s: a packet of tcp\.\d (arrives|leaves|is dropped)", page.text_content("#queue-words"))
    drawn = "document.getElementById('queue-view').toDataURL()"
    still = page.evaluate(drawn)
    page.click("#play")
    for _ in range(200):
        if page.evaluate(drawn) != still:
            break
        page.wait_for_timeout(50)
    assert page.evaluate(drawn) != still
    page.click("#play")
    assert page.text_content("#play") == "Play"


def test_a_link_shows_a_sentence_with_a_control_two_numbers_and_one_chart(page):
    page.goto("about:blank")
    sentence = quote(f"RED begins to drop everything at {{{MAX_TH}}}.")
    page.set_viewport_size({"width": 350, "height": 700})
    page.goto(f"{page.home}#show=delay&ask={sentence}&numbers=mean_delay_ms,goodput_mbps")
    page.wait_for_selector("html[data-drawn]", state="attached")
    before = page.text_content("#few")
    assert [one.split(",")[0] for one in page.locator("#few dt").all_text_contents()] == [
        "Mean queueing delay",
        "TCP goodput",
    ]
    assert page.locator("figure:visible").evaluate_all("(all) => all.map((one) => one.id)") == ["chart-delay"]
    assert page.locator("#numbers:visible, #panel:visible, #stage:visible").count() == 0
    page.press("#ask input[type=range]", "End")
    settled(page, 2)
    assert page.text_content("#few") != before
    assert page.evaluate("document.documentElement.scrollWidth") <= 350
    page.set_viewport_size({"width": 1400, "height": 1000})


def test_a_link_shows_only_what_it_names(page):
    page.goto("about:blank")
    page.goto(f"{page.home}#show=queue,packets&knobs={MAX_TH}&preset={quote('MRED, TCP flows')}")
    shown_queue(page)
    assert page.locator(".control:visible").evaluate_all("(all) => all.map((one) => one.dataset.key)") == [MAX_TH]
    assert page.locator("figure:visible").evaluate_all("(all) => all.map((one) => one.id)") == ["chart-queue"]
    assert page.is_visible("#queue-view")
    assert not page.is_visible("#numbers")
    assert "show=" in page.evaluate("location.hash")
    assert "preset=MRED" in page.evaluate("location.hash")
