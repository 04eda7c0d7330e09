"""The served laboratory in a real browser: a slider moved, a chart changed, in time; nothing fetched from elsewhere.

`test_web_browser.py` is about the page that simulates by itself.
"""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

import pytest

import aqmlab
from aqmlab.scenario import plugins
from browser_core import command_values
from measure_lab import LIMIT_MS, browser_path, lines, moves, opened_page, press, slider

pytest.importorskip("playwright.sync_api")

pytestmark = [
    pytest.mark.browser,
    # The page needs a browser; .ci/run installs one.
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here"),
]
MAX_TH = "queue.bottleneck.max_th"
REBOUND = "--host-resolver-rules=MAP evil.example 127.0.0.1"


@pytest.fixture(scope="module")
def lab():
    @plugins.discipline("every-tenth", title="Every tenth packet")
    class EveryTenth(plugins.Discipline):
        """Drops every tenth packet."""

        def enqueue(self, now, packet, queue):
            self.average += 1
            return "drop" if self.average % 10 == 0 else "accept"

    with aqmlab.open_lab() as opened:
        yield opened


@pytest.fixture(scope="module")
def browsed(lab):
    """One browser for all tests: the page, its console output, and its requests."""
    with opened_page(lab.url, REBOUND) as page:
        page.console, page.asked = [], []
        page.on("console", lambda line: page.console.append(line.text))
        page.on("pageerror", lambda error: page.console.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        yield page


@pytest.fixture
def page(browsed, lab):
    """The page as it is when it is opened."""
    browsed.goto("about:blank")
    browsed.console.clear()
    browsed.asked.clear()
    browsed.goto(lab.url)
    browsed.wait_for_selector("html[data-drawn]", state="attached")
    yield browsed
    assert browsed.console == []


def listed(page):
    """The names in the legend of the queue's chart, without the x axis."""
    return page.locator("#chart-queue .u-series .u-label").all_text_contents()[1:]


def settled(page, number):
    page.wait_for_selector(f'html[data-drawn="{number}"]', state="attached")


def test_twenty_moves_are_drawn_in_time(page, capsys):
    found = moves(page, 20)
    times = [move.ms for move in found]
    with capsys.disabled():
        print(f"\nlaboratory: median {median(times):.0f} ms, worst {max(times):.0f} ms of {len(times)} moves")
    assert all(move.chart_changed for move in found)
    assert median(times) < LIMIT_MS


def test_the_page_asks_only_its_own_server(page, lab):
    press(page, MAX_TH)
    asked = [url for url in page.asked if not url.startswith(("blob:", "data:"))]
    assert asked[0] == lab.url
    assert set(asked[1:]) == {f"{lab.url}core"}


def test_a_discipline_of_python_runs(page):
    page.select_option('[data-key="aqm"] select', "every-tenth")
    settled(page, 2)
    loss = float(page.text_content('#numbers td[data-key="loss"]'))
    assert "Loss, %" in page.text_content("#numbers")
    assert loss == pytest.approx(10, abs=0.1)
    assert loss == pytest.approx(100 * command_values(page.text_content("#command"))["loss"], abs=5e-4)
    assert page.is_hidden("#error")


def test_what_applications_see_is_among_the_numbers(browsed):
    with aqmlab.open_lab("example:applications") as lab:
        other = browsed.context.browser.new_page()
        other.goto(lab.url)
        other.wait_for_selector("html[data-drawn]", state="attached")
        due = command_values(other.text_content("#command"), "bottleneck")
        for key in ("mos", "page_load_s"):
            assert float(other.text_content(f'#numbers td[data-key="{key}"]')) == pytest.approx(due[key], abs=0.006)
        other.close()


def test_the_queue_of_the_native_core_can_be_watched(page):
    page.wait_for_selector("#stage[data-shown]", state="attached")
    assert page.text_content("#play") == "Pause"
    page.click("#play")
    assert re.match(r"red: \d+ packets wait.*; 10\.\d{4} s", page.text_content("#queue-words"))


def test_a_slider_shows_in_command_scenario_and_numbers(page):
    before = page.text_content("#numbers")
    press(page, MAX_TH)
    press(page, MAX_TH)
    assert page.text_content("#command") == f"aqmlab run lab:dumbbell.toml --seeds 1 --set {MAX_TH}=32p"
    assert 'max_th = "32p"' in page.text_content("#text")
    assert page.text_content("#numbers") != before
    assert page.input_value(f'[data-key="{MAX_TH}"] input[type=number]') == "32"
    assert page.get_attribute(slider(MAX_TH), "aria-valuetext") == "32 packets"
    assert "30 s simulated" in page.text_content("#status")


def test_while_a_slider_is_dragged_the_newest_wins(page):
    """Forty moves in a row: far fewer runs, and the last one is drawn."""
    drawn = int(page.evaluate("document.documentElement.dataset.drawn"))
    page.evaluate(
        """async (where) => {
          const slider = document.querySelector(where);
          for (let i = 0; i < 40; i += 1) {
            slider.valueAsNumber = 40 + i;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((done) => setTimeout(done, 10));
          }
        }""",
        slider(MAX_TH),
    )
    value = page.input_value(f'[data-key="{MAX_TH}"] input[type=number]')
    page.wait_for_selector(f'#command:text("{MAX_TH}={value}p")')
    runs = int(page.evaluate("document.documentElement.dataset.drawn")) - drawn
    assert 1 <= runs < 40


def test_another_discipline_brings_its_controls(page):
    page.select_option('[data-key="aqm"] select', "adaptive-red")
    settled(page, 2)
    assert page.locator('[data-key="queue.bottleneck.ared_alpha"]').count() == 1
    assert page.input_value('[data-key="queue.bottleneck.curve"] select') == "gentle"
    page.select_option('[data-key="aqm"] select', "drop-tail")
    settled(page, 3)
    assert page.locator(f'[data-key="{MAX_TH}"]').count() == 0
    assert "has no curve" in page.text_content("#chart-probability figcaption")
    page.select_option('[data-key="aqm"] select', "wred")
    settled(page, 4)
    assert page.locator("fieldset").count() == 7
    page.click("#reset")
    settled(page, 5)
    assert page.text_content("#command") == "aqmlab run lab:dumbbell.toml --seeds 1"


def test_two_disciplines_beside_each_other(page):
    one = listed(page)
    page.select_option('[data-key="beside"] select', "mred")
    settled(page, 2)
    assert listed(page) == [f"{name}: {what}" for name in ("red", "mred") for what in one]
    rows = page.locator("#numbers tr")
    assert [rows.nth(i).locator("th").first.text_content() for i in range(rows.count())] == [
        "discipline",
        "red",
        "mred",
    ]
    assert len(page.text_content("#command").splitlines()) == 2


def test_the_lower_threshold_pushes_the_upper(page):
    field = '[data-key="queue.bottleneck.min_th"] input[type=number]'
    page.fill(field, "60")
    page.press(field, "Enter")
    settled(page, 2)
    assert page.input_value(f'[data-key="{MAX_TH}"] input[type=number]') == "61"
    assert page.is_hidden("#error")


def test_an_invalid_setting_is_reported_and_the_charts_stay(page):
    drawn = lines(page)
    field = '[data-key="queue.bottleneck.limit"] input[type=number]'
    page.fill(field, "0")
    page.press(field, "Enter")
    page.wait_for_selector("#error:visible")
    assert page.text_content("#error") == "queue.bottleneck.limit: is out of range (allowed: 1 to 1e+06)"
    assert lines(page) == drawn
    page.fill(field, "50")
    page.press(field, "Enter")
    page.wait_for_selector("#error", state="hidden")


def test_copying(page, lab):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=lab.url)
    page.click('button.copy[data-of="command"]')
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "aqmlab run lab:dumbbell.toml --seeds 1"


def test_light_and_dark(page):
    colours = "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colours)
    assert light != dark
    page.click("button.theme")
    assert page.evaluate(colours) == light
    page.click("button.theme")
    assert page.evaluate(colours) == dark
    page.evaluate("localStorage.clear()")
    page.emulate_media(color_scheme="no-preference")


def test_every_control_has_a_name_and_every_chart_words(page):
    nameless = """() => [...document.querySelectorAll("input, select, button")].filter((one) =>
      !(one.labels && one.labels.length) && !one.getAttribute("aria-label") && !one.textContent.trim()).length"""
    assert page.evaluate(nameless) == 0
    charts = page.locator(".plot[role=img]")
    assert charts.count() == 5
    for index in range(5):
        assert len(charts.nth(index).get_attribute("aria-label")) > 40
    assert page.locator(".layout [role=status]").count() == 1
    assert page.locator(".layout [role=alert]").count() == 1
    assert page.get_attribute("html", "lang") == "en"


def test_the_keyboard_reaches_everything(page):
    """By Tab alone: every control, and a chart whose values the arrow keys read out."""
    wanted = int(page.evaluate("[...document.querySelectorAll('.layout :is(#ask, #panel, #stage) :is(input, select)')]"
                               ".filter((e) => e.checkVisibility()).length"))  # fmt: skip
    page.evaluate("document.activeElement.blur()")
    for _ in range(wanted + 16):
        page.keyboard.press("Tab")
        if page.evaluate("(document.activeElement.dataset.seen = 'yes', document.activeElement.className)") == "plot":
            break
    assert page.locator(":is(input, select)[data-seen]").count() == wanted
    page.keyboard.press("ArrowRight")
    read = page.text_content("#chart-queue .readout")
    assert re.fullmatch(r"time 15\.\d, queue [\d.]+, average [\d.]+", read)


def test_keys_zoom_and_hide_lines(page):
    page.focus("#chart-queue .plot")
    whole = lines(page)
    page.keyboard.press("+")
    part = lines(page)
    page.keyboard.press("Shift+ArrowRight")
    assert len({whole, part, lines(page)}) == 3
    page.keyboard.press("Home")
    assert lines(page) == whole
    page.keyboard.press("1")
    assert page.locator("#chart-queue .u-off.u-series").text_content().startswith("queue")
    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.text_content("#chart-queue .readout") == ""
    assert lines(page) == whole


def test_dragging_zooms_and_a_zoom_stays_when_a_slider_moves(page):
    whole = lines(page)
    box = page.locator("#chart-queue .u-over").bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 62, steps=4)
    page.mouse.up()
    assert lines(page) != whole
    press(page, MAX_TH)
    page.focus("#chart-queue .plot")
    page.keyboard.press("ArrowLeft")
    assert 12 < float(page.text_content("#chart-queue .readout").split(",")[0].removeprefix("time ")) < 18
    press(page, MAX_TH, "ArrowLeft")
    page.mouse.dblclick(box["x"] + 40, box["y"] + 60)
    page.mouse.move(0, 0)
    page.wait_for_timeout(50)
    assert lines(page) == whole


def test_a_host_name_of_dns_rebinding_is_rejected(browsed, lab):
    """DNS rebinding, in a browser for which evil.example is this machine."""
    other = browsed.context.browser.new_page()
    answer = other.goto(lab.url.replace("127.0.0.1", "evil.example"))
    assert answer.status == 403
    assert "the Host header names another host" in other.text_content("body")
    other.close()


class _Foreign(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>foreign</title>")

    def log_message(self, *_):
        pass


def test_a_foreign_page_cannot_ask(browsed, lab):
    """A page of another origin gets neither the page nor a run, even if it knows the token."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Foreign) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        other = browsed.context.browser.new_page()
        other.goto(f"http://127.0.0.1:{server.server_port}/")
        word = other.evaluate(
            """async (url) => {
              const ask = (where, how) => fetch(where, how).then(() => "answered", () => "kept away");
              return [await ask(url, {}), await ask(url + "core", { method: "POST", body: "{}" }),
                      await ask(url, { mode: "no-cors" })];
            }""",
            lab.url,
        )
        server.shutdown()
        assert word == ["kept away", "kept away", "kept away"]
        other.close()


def test_the_page_reports_that_the_laboratory_was_closed(browsed):
    lab = aqmlab.open_lab()
    other = browsed.context.browser.new_page()
    other.goto(lab.url)
    other.wait_for_selector("html[data-drawn]", state="attached")
    lab.close()
    other.press(slider(MAX_TH), "ArrowRight")
    other.wait_for_selector("#error:visible")
    assert other.text_content("#error") == "The laboratory does not answer. Was it closed?"
    other.close()


MIN_TH, MAX_P = "queue.bottleneck.min_th", "queue.bottleneck.max_p"


def exact(page, key):
    return page.input_value(f'[data-key="{key}"] input[type=number]')


def fill(page, key, value):
    field = f'[data-key="{key}"] input[type=number]'
    page.fill(field, str(value))
    page.press(field, "Enter")


def test_it_opens_on_moving_packets_with_a_question(page):
    page.wait_for_selector("#stage[data-shown]", state="attached")
    assert page.text_content("#ask").startswith("What happens to the queue when max_th")
    assert page.locator("#ask input[type=range]").count() == 1
    page.press("#ask input[type=range]", "ArrowRight")
    settled(page, 2)
    assert exact(page, MAX_TH) == "31"
    drawn = "document.getElementById('queue-view').toDataURL()"
    before = page.evaluate(drawn)
    page.wait_for_function("(before) => document.getElementById('queue-view').toDataURL() !== before", arg=before)
    assert page.text_content("#play") == "Pause"


def test_a_held_curve_stays_behind_the_new_one(page):
    page.click("#hold")
    assert page.get_attribute("#hold", "aria-pressed") == "true"
    press(page, MAX_TH)
    assert listed(page) == ["before: average", "queue", "average"]
    page.click("#hold")
    assert listed(page) == ["queue", "average"]


def test_changes_are_undone_and_redone(page):
    assert page.is_disabled("#undo")
    page.eval_on_selector(
        slider(MAX_TH),
        """(one) => [40, 50].forEach((place) => {
          one.valueAsNumber = place;
          one.dispatchEvent(new Event("input", { bubbles: true }));
        })""",
    )
    settled(page, 2)
    moved = exact(page, MAX_TH)
    assert moved != "30"
    page.click("#undo")
    settled(page, 3)
    assert exact(page, MAX_TH) == "30"
    assert page.is_disabled("#undo")
    page.keyboard.press("Control+Shift+Z")
    settled(page, 4)
    assert exact(page, MAX_TH) == moved
    assert page.is_disabled("#redo")


def test_what_is_compared_has_its_own_controls(page):
    page.select_option('[data-key="beside"] select', "red")
    settled(page, 2)
    assert page.text_content("#numbers").count("red, B") == 1
    press(page, MAX_TH)
    assert exact(page, f"beside.{MAX_TH}") == "31"
    fill(page, f"beside.{MAX_TH}", 60)
    settled(page, 4)
    first, second = page.text_content("#command").splitlines()
    assert first.endswith(f"--set {MAX_TH}=31p")
    assert second.endswith(f"--set {MAX_TH}=60p")
    page.select_option('[data-key="beside"] select', "codel")
    settled(page, 5)
    assert page.locator('[data-key="beside.queue.bottleneck.target"]').is_visible()
    assert 'aqm = "codel"' in page.text_content("#command").splitlines()[1]


def test_controls_without_effect_are_hidden(page):
    page.click("#panel details summary")
    marks = page.locator('[data-key="queue.bottleneck.mark_up_to"]')
    assert marks.is_hidden()
    page.check('[data-key="queue.bottleneck.ecn"] input')
    settled(page, 2)
    assert marks.is_visible()
    page.uncheck('[data-key="queue.bottleneck.ecn"] input')
    settled(page, 3)
    assert marks.is_hidden()


def test_the_curve_is_dragged_on_the_queue(page):
    """Both handles: min_th sideways, max_th and max_p together; one step back undoes a whole movement."""
    page.wait_for_selector('.grip[data-name="red max_th"]')
    corner = page.locator('.grip[data-name="red max_th"]').bounding_box()
    x, y = corner["x"] + 20, corner["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y - 15, steps=5)
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('#command').textContent.includes('max_p=')")
    assert 11 < float(exact(page, MAX_TH)) < 30
    assert float(exact(page, MAX_P)) > 0.1
    page.click("#undo")
    page.wait_for_function("() => !document.querySelector('#command').textContent.includes('--set')")
    back = (
        "(x) => Math.abs(document.querySelector('.grip[data-name=\"red max_th\"]').getBoundingClientRect().x - x) < 1"
    )
    page.wait_for_function(back, arg=corner["x"])  # the queue with the former curve
    for words in ("min_th=", "min_th=29"):  # the pointer cannot leave the window: twice a part of the way
        page.locator('.grip[data-name="red min_th"]').scroll_into_view_if_needed()
        lower = page.locator('.grip[data-name="red min_th"]').bounding_box()
        page.mouse.move(lower["x"] + 20, lower["y"] + 20)
        page.mouse.down()
        page.mouse.move(max(lower["x"] - 500, 5), lower["y"] + 20, steps=5)
        page.mouse.up()
        page.wait_for_function("(words) => document.querySelector('#command').textContent.includes(words)", arg=words)
    assert exact(page, MIN_TH) == "29"
    assert exact(page, MAX_P) == "0.1"


def test_your_uplink_compares_disciplines_and_gives_a_command(page):
    page.click("#to-uplink")
    page.wait_for_selector("html[data-uplink='1']", state="attached")
    delays = {
        name: float(page.text_content(f'[data-uplink="{name}"]')) for name in ("drop-tail", "fq-codel", "cake", "pie")
    }
    assert max(delays, key=delays.get) == "drop-tail"
    assert delays["fq-codel"] < delays["drop-tail"] / 2
    page.check('#uplink-choice input[value="fq-codel"]')
    assert " fq_codel limit 134 " in page.text_content("#uplink-command"), "the buffer is that of aqmlab tune"
    page.check('#uplink-choice input[value="cake"]')
    assert page.text_content("#uplink-command") == (
        "tc qdisc replace dev DEV root cake bandwidth 19000kbit dual-srchost nat ethernet"
    )
    page.fill("#uplink-rate", "5")
    page.press("#uplink-rate", "Enter")
    page.wait_for_selector("html[data-uplink='2']", state="attached")
    assert "bandwidth 4750kbit" in page.text_content("#uplink-command")
    assert page.evaluate("location.hash") == "#uplink=5,40"
    page.click("#to-lab")
    page.wait_for_selector('#title:has-text("Laboratory: dumbbell")')
    assert page.is_visible("#charts")


def test_the_address_of_your_uplink_names_its_mistakes(page):
    page.evaluate("location.hash = '#uplink=20,40&foo=1&seed=2&show=queue'")
    page.wait_for_selector("#uplink-error:not([hidden])")
    said = page.text_content("#uplink-error")
    assert 'unknown parameter "foo" (allowed: set, ' in said
    assert "show: without effect beside uplink" in said


def test_contradictory_settings_of_the_address_give_way_to_the_file(page):
    high = '{"queue.bottleneck.min_th": 50, "queue.bottleneck.max_th": 20}'
    page.evaluate("(text) => { location.hash = `#set=${encodeURIComponent(text)}`; }", high)
    page.wait_for_selector("#error:not([hidden])")
    page.wait_for_selector('#error:has-text("The address of this page: set: ")')
    assert exact(page, MAX_TH) == "30"
    assert not page.locator("main.stale").count()


@pytest.fixture(scope="module")
def phone(browsed, lab):
    """The page on a phone: 390 px wide, touched with fingers."""
    context = browsed.context.browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2
    )
    page = context.new_page()
    page.console = []
    page.on("console", lambda line: page.console.append(line.text))
    page.goto(lab.url)
    page.wait_for_selector("html[data-drawn]", state="attached")
    yield page
    assert page.console == []
    context.close()


def test_on_a_phone_a_chart_stays_in_view_above_three_controls(phone):
    box = phone.locator("#chart-queue").bounding_box()
    assert box["y"] + box["height"] <= 844, "the first chart is on the first screen"
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.locator("#controls .control:visible").count() == 3
    assert phone.is_hidden("#keys")
    tall = "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.clientHeight)"
    assert set(phone.eval_on_selector_all("input[type=range]", tall)) == {40}
    phone.click("#drawer")
    assert phone.locator("#controls .control:visible").count() > 10
    phone.locator("#drawer").scroll_into_view_if_needed()
    assert phone.locator("#chart-queue").bounding_box()["y"] == pytest.approx(0, abs=1)
    phone.click("#drawer")
    phone.evaluate("scrollTo(0, 0)")


def test_on_a_phone_the_curve_is_dragged_with_a_finger(phone):
    finger = phone.context.new_cdp_session(phone)
    grip = phone.locator('.grip[data-name="red max_th"]').bounding_box()
    assert (grip["width"], grip["height"]) == (40, 40)

    def touch(kind, *points):
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    x, y = grip["x"] + 20, grip["y"] + 20
    touch("touchStart", (x, y))
    for step in range(1, 6):
        touch("touchMove", (x + 6 * step, y))
    touch("touchEnd")
    phone.wait_for_function("() => document.querySelector('#command').textContent.includes('max_th=')")
    assert float(exact(phone, MAX_TH)) < 30
    assert phone.evaluate("scrollY") == 0
