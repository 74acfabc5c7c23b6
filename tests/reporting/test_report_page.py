"""The HTML report in a real browser: Chromium without a screen, driven by Selenium.

Without Chromium these tests are skipped, unless PADDLE2OV_REQUIRE_BROWSER is set, as .ci/run does.
"""

import itertools
import json
import os
import shutil
from functools import cache

import pytest

import paddle2ov
from gen_models.harness.store import generated_network
from gen_models.networks.repeated import BLOCK, repeat
from paddle2ov.jobs.conversions import GOOD
from paddle2ov.reporting import build_report, refused_report, write_report
from paddle2ov.reporting.page import BATCH, render
from tests.support.models import chain, network

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "</script><script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"


class Browser:
    """Chromium, with what it complained about and what it asked for."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, page, anew=False):
        """Opens a page, unless it is there already; what was chosen on it stays then."""
        if anew or self.driver.current_url.partition("#")[0] != page.as_uri():
            self.driver.get(page.as_uri())
        self.page = page
        return self

    def run(self, script):
        return self.driver.execute_script(script)

    def find(self, id):
        return self.driver.find_element("id", id)

    def wait(self, script):
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 300, poll_frequency=0.05).until(lambda driver: driver.execute_script(script))

    def act(self):
        """A chain of actions of the mouse, which moves at once."""
        from selenium.webdriver import ActionChains

        return ActionChains(self.driver, duration=0)

    def show(self, tab):
        self.find(f"tab-{tab}").click()
        assert self.find(tab).is_displayed()

    def search(self, text):
        from selenium.webdriver.common.keys import Keys

        field = self.find("graph-search")
        field.clear()
        field.send_keys(text)
        texts = [row.text for row in self.driver.find_elements("css selector", "#graph-found li")]
        field.send_keys(Keys.ENTER)
        return texts

    def check_quiet(self):
        """No message on the console, and nothing asked for but the page itself."""
        assert self.driver.get_log("browser") == []
        events = [json.loads(item["message"])["message"] for item in self.driver.get_log("performance")]
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        assert {url.split("#")[0] for url in sent if not url.startswith("data:")} <= {self.page.as_uri()}


@pytest.fixture(scope="module")
def chromium():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        reason = "Chromium and its driver are not here (Debian: apt-get install chromium chromium-driver)"
        (pytest.fail if os.environ.get("PADDLE2OV_REQUIRE_BROWSER") else pytest.skip)(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1280,900"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_page_load_timeout(300)
    yield started
    started.quit()


@pytest.fixture
def browser(chromium):
    for log in ("browser", "performance"):
        chromium.get_log(log)
    session = Browser(chromium)
    yield session
    session.check_quiet()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def page(name):
        return PAGES[name](folder)

    return page


def write(folder, model, name="model", verify=False):
    conversion = paddle2ov.ConversionReport()
    converted = paddle2ov.convert(model, report=conversion)
    verification = paddle2ov.verify(model, operators=True) if verify else None
    report = build_report(converted, conversion, name=name, verification=verification)
    target = folder / f"page{len(list(folder.iterdir()))}.html"
    write_report(report, target)
    assert target.stat().st_size < 6e6
    return target


def hostile(folder, *changes):
    """The small block with other names in its program."""
    target = folder / f"hostile{len(list(folder.iterdir()))}"
    shutil.copytree(generated_network(BLOCK, "pir"), target)
    text = (target / "inference.json").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, json.dumps(new))
    (target / "inference.json").write_text(text)
    return target


def write_hostile(folder):
    return write(folder, hostile(folder, ('"x"', HOSTILE), ('"fetch_name_0"', IMAGE)), name=HOSTILE + IMAGE)


def write_hostile_refused(folder):
    program = paddle2ov.read_program(hostile(folder, ('"1.tanh"', f"1.{HOSTILE}"), ('"x"', IMAGE)))
    with pytest.raises(paddle2ov.UnsupportedOpsError) as error:
        paddle2ov.convert(program)
    target = folder / "refused.html"
    write_report(refused_report(program, error.value, IMAGE), target)
    return target


PAGES = {
    "attention": lambda folder: write(folder, network("swin_stage")),
    "loop": lambda folder: write(folder, network("nested")),
    "chain": lambda folder: write(folder, chain("convolution-relu"), verify=True),
    "layers": lambda folder: write(folder, network("squeezenet1_1")),
    "large": lambda folder: write(folder, repeat(generated_network(BLOCK, "pir"), 400, folder / "large"), "large"),
    "hostile": write_hostile,
    "hostile_refused": write_hostile_refused,
}

DRAWN = """
return [...document.querySelectorAll("main > section:not([hidden]) canvas[id]")].map((canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return [canvas.id, pixels.some((value) => value !== 0)];
});
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("page", "width"), [("attention", 500), ("attention", 1280), ("attention", 1920), ("chain", 1280)]
)
def test_tabs(browser, pages, page, width):
    browser.driver.set_window_size(width, 1000)
    browser.open(pages(page), anew=True)
    tabs = [button.text for button in browser.driver.find_elements("css selector", ".tabs button")]
    assert tabs == ["Summary", "Operators", "Rewrites", "Fusions", "Time", "Accuracy", "Graph"]
    for tab in ("summary", "operators", "rewrites", "fusions", "time", "accuracy"):
        browser.show(tab)
        shown = browser.run(DRAWN)
        assert all(drawn for _, drawn in shown), shown
        if tab != "accuracy" or page == "chain":
            assert shown
        assert browser.run("return document.documentElement.scrollWidth") <= width  # nothing to scroll sideways
    browser.show("graph")
    assert browser.wait("return view.cy && view.cy.nodes().length") > 3


def test_dark_mode(browser, pages):
    """The ground is dark and the words on it are light, in the page and in its charts, where the system asks for it."""
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    lightness = """
    const style = getComputedStyle(document.documentElement);
    const context = document.createElement("canvas").getContext("2d");
    const bars = [FATE_COLOURS.primitive, FATE_COLOURS.removed, FATE_COLOURS.converted];
    return [style.color, style.backgroundColor, Chart.defaults.color, ...bars].map((colour) => {
      context.fillStyle = colour;
      const [r, g, b] = [1, 3, 5].map((i) => parseInt(context.fillStyle.slice(i, i + 2), 16));
      return 0.3 * r + 0.59 * g + 0.11 * b;
    });
    """
    browser.open(pages("chain"), anew=True)
    ink, ground, chart, primitive, removed, converted = browser.run(lightness)
    assert max(ink, chart) < ground - 100
    assert primitive < removed < converted < ground
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    ink, ground, chart, primitive, removed, converted = browser.open(pages("chain"), anew=True).run(lightness)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert min(ink, chart) > ground + 100
    assert primitive > removed > converted > ground


@pytest.mark.parametrize(("page", "shown"), [("chain", False), ("attention", True)])
def test_passes_that_did_nothing_are_not_shown(browser, pages, page, shown):
    browser.open(pages(page)).show("rewrites")
    chart_ids = browser.run("return [...document.querySelectorAll('#rewrites figure')].map((one) => one.id)")
    assert ("chart-rewrites-card" in chart_ids) == shown
    assert chart_ids[-2:] == ["chart-nodes-card", "chart-stages-card"]


def test_names_are_not_cut(browser, pages):
    browser.open(pages("attention")).show("graph")
    name = "a_long_name/of_an_operator.tmp_0_" * 5
    assert browser.run(f"return inLines('{name}', 20).join('')") == name
    assert max(map(len, browser.run(f"return inLines('{name}', 20)"))) <= 20
    browser.wait("return view.cy && view.cy.nodes().length")
    cut = "return view.cy.nodes().filter((one) => one.style('text-wrap') === 'ellipsis').length"
    assert browser.run(cut) == 0


def test_the_page_of_a_batch(browser, tmp_path):
    models = [
        {"name": "slow", "state": "agrees", "message": "", "seconds": 20.5, "report": "a b/slow#.html"},
        {"name": HOSTILE, "state": "refused", "message": IMAGE, "seconds": 3.0},
        {"name": "quick", "state": "agrees", "message": "", "seconds": 1.25},
    ]
    page = render("batch.html.jinja", {"models": models, "good": GOOD}, BATCH, models=models, done=GOOD)
    (tmp_path / "summary.html").write_text(page)
    browser.open(tmp_path / "summary.html")
    names = "return [...document.querySelectorAll('tbody tr')].map((row) => row.children[0].textContent)"
    assert browser.run(names) == [HOSTILE, "slow", "quick"]  # what needs a look comes first
    links = browser.run("return [...document.querySelectorAll('a')].map((one) => one.getAttribute('href'))")
    assert links == ["a%20b/slow%23.html"]
    browser.run("document.querySelectorAll('th button')[5].click()")
    assert browser.run(names) == ["slow", HOSTILE, "quick"]
    browser.find("filter-models").send_keys("quick")
    assert browser.run(names) == ["quick"]


def test_table_is_filtered_and_sorted(browser, pages):
    browser.open(pages("attention")).show("operators")
    browser.find("filter-operators").send_keys("softmax")
    rows = browser.driver.find_elements("css selector", "#table-operators tbody tr")
    assert len(rows) == 2
    assert all("softmax" in row.text for row in rows)
    browser.show("time")
    rows = "[...document.querySelectorAll('#table-primitives tbody tr')]"
    times = f"return {rows}.map((row) => row.children[7].textContent)"
    browser.driver.find_elements("css selector", "#table-primitives th button")[7].click()
    slowest = browser.run("return COMPUTING.reduce((most, one) => Math.max(most, one.microseconds || 0), 0)")
    assert browser.run(times)[0] == browser.run(f"return microseconds({slowest})")
    browser.driver.find_elements("css selector", "#table-primitives tbody tr")[0].click()
    assert browser.find("graph").is_displayed()
    assert browser.run("return PRIMITIVES[view.cy.$('node:selected').data('ref')].microseconds") == slowest


def test_graph_is_searched_zoomed_and_moved(browser, pages):
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    browser.open(pages("attention")).show("graph")
    assert "softmax" in browser.search("softmax")[0]
    assert browser.run("return view.cy.$('node:selected').data('label')") == "softmax"
    assert browser.find("details").text.startswith("softmax")
    assert "inside another operator's primitive" in browser.find("details").text

    browser.driver.find_element("css selector", "#details .jump").click()  # to its primitive, in the other graph
    assert browser.run("return view.which") == 1
    assert browser.find("details").text.startswith("Subgraph")
    assert "MatMul → " in browser.find("details").text

    zoom = browser.run("return view.cy.zoom()")
    browser.find("graph-in").click()
    assert browser.run("return view.cy.zoom()") == pytest.approx(1.5 * zoom)
    canvas = browser.find("graph-canvas")
    browser.act().scroll_from_origin(ScrollOrigin.from_element(canvas), 0, 200).perform()
    browser.wait(f"return view.cy.zoom() < {1.45 * zoom}")
    before = browser.run("return view.cy.pan()")
    drag = browser.act().move_to_element_with_offset(canvas, -200, -150).click_and_hold()
    drag.move_by_offset(30, 20).move_by_offset(30, 20).release().perform()
    browser.wait(f"return Math.abs(view.cy.pan().x - {before['x']}) > 30")
    browser.find("graph-fit").click()
    box = browser.run("const b = view.cy.elements().renderedBoundingBox(); return [b.x1, b.y1, b.x2, b.y2]")
    assert min(box) >= 0
    assert box[2] <= canvas.size["width"]
    assert box[3] <= canvas.size["height"]


def test_a_node_is_clicked(browser, pages):
    browser.open(pages("chain")).show("graph")
    relu = "view.cy.nodes().filter((one) => one.data('label') === 'relu')"
    x, y = browser.run(f"const p = {relu}.renderedPosition(); return [p.x, p.y]")
    canvas = browser.find("graph-canvas")
    left, top = x - canvas.size["width"] / 2, y - canvas.size["height"] / 2
    browser.act().move_to_element_with_offset(canvas, round(left), round(top)).click().perform()
    browser.wait("return document.querySelector('#details h3')?.textContent === 'relu'")
    assert "DIFFERENCE TO PADDLE" in browser.find("details").text
    choices = [option.text for option in browser.driver.find_elements("css selector", "#graph-colour option")]
    assert choices == ["what became of it", "time", "difference to Paddle"]


BOXES = """
const shown = view.cy.nodes().map((one) => [one.id(), one.boundingBox({includeLabels: false, includeOverlays: false})]);
const isApart = ([, a], [, b]) => a.x2 <= b.x1 || b.x2 <= a.x1 || a.y2 <= b.y1 || b.y2 <= a.y1;
const isIn = ([, a], [, b]) => a.x1 >= b.x1 && a.x2 <= b.x2 && a.y1 >= b.y1 && a.y2 <= b.y2;
"""
NESTED = "shown.every((a, i) => shown.slice(i + 1).every((b) => isApart(a, b) || isIn(a, b) || isIn(b, a)))"
INSIDE = """shown.every((one) => {
  const { parent } = view.folding.items.get(one[0]);
  return parent === "" || isIn(one, shown.find(([key]) => key === parent));
})"""


def test_branches_stand_in_boxes(browser, pages):
    browser.open(pages("loop")).show("graph")
    browser.run("unfoldAll()")
    browser.wait("return view.cy.nodes('.folded').length === 0")
    boxes = browser.run("return view.cy.nodes('.block').map((node) => node.data('name'))")
    assert sorted(label.partition(",")[0] for label in boxes) == ["if", "if", "while"]
    assert browser.run(f"{BOXES} return {NESTED}")
    assert browser.run(f"{BOXES} return {INSIDE}")
    browser.search("less_than")
    assert "block" in browser.find("details").text


@pytest.mark.every_form
def test_thousands_of_operators(browser, pages):
    browser.open(pages("large"))
    assert browser.run("return OPERATORS.length") > 3000
    browser.show("operators")
    assert browser.run("return document.querySelectorAll('#table-operators tbody tr').length") == 200
    browser.show("graph")
    assert 10 < browser.run("return view.cy.nodes().length") < 100
    assert "of 2,4" in browser.find("graph-count").text
    assert browser.run("return document.querySelectorAll('#graph-canvas *').length") < 50  # a canvas, not a DOM
    last = browser.run("return OPERATORS.at(-1)")
    assert browser.search(last["outputs"][0])[0].startswith(last["type"])
    assert browser.run("return view.cy.$('node:selected').data('ref')") == last["id"]
    assert browser.run("return view.cy.nodes().length") < 200
    browser.find("graph-unfold").click()
    browser.wait("return view.cy.nodes().length > 2000")
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    spent = [cpu_seconds(browser)]
    for step in ("view.cy.fit()", "view.cy.panBy({x: 30, y: 20})", "view.cy.zoom(0.2)"):
        browser.run(f"{step}; view.cy.forceRender()")
        spent.append(cpu_seconds(browser))
    assert max(b - a for a, b in itertools.pairwise(spent)) < 1.5  # measured: 0.1 to 0.3


def cpu_seconds(browser):
    """What the page's main thread has computed so far, however busy the machine is."""
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("width", [500, 1280, 1920])
def test_modules_are_unfolded_and_folded(browser, pages, width):
    browser.driver.set_window_size(width, 1000)
    browser.open(pages("layers")).show("graph")
    assert "layers of the network's source" in browser.find("graph-folded").text
    key, inside = browser.run(
        "const one = view.cy.nodes('.folded')[0].id(); return [one, view.folding.items.get(one).members]"
    )
    before = browser.run("return view.cy.nodes().length")
    browser.run(f"view.cy.getElementById('{key}').emit('onetap')")
    browser.wait(f"return view.cy.nodes().length === {before + len(inside)}")
    assert browser.run(f"{BOXES} return {NESTED}")
    assert browser.find("details").text.startswith(browser.run(f"return view.folding.items.get('{key}').label"))
    browser.run(f"view.cy.getElementById('{key}').emit('dbltap')")
    browser.wait(f"return view.cy.nodes().length === {before}")
    browser.find("graph-fold").click()
    assert browser.run("return view.cy.nodes('.box').length") == 0
    hidden = browser.run(
        "return [...view.folding.nodesOf('')].find((one) => view.cy.getElementById(one.key).empty()).ref"
    )
    browser.search(browser.run(f"return OPERATORS[{hidden}].outputs[0]"))
    assert browser.run("return view.cy.$('node:selected').data('ref')") == hidden
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_small_models_have_no_groups(browser, pages):
    browser.open(pages("chain")).show("graph")
    assert browser.run("return view.cy.nodes('.box, .folded').length") == 0
    assert not browser.find("graph-unfold").is_displayed()


@pytest.mark.parametrize("page", ["hostile", "hostile_refused"])
def test_hostile_names_are_text(browser, pages, page):
    from selenium.common.exceptions import NoAlertPresentException

    browser.open(pages(page))
    for button in browser.driver.find_elements("css selector", ".tabs button"):
        button.click()
    operator = "softmax" if page == "hostile" else HOSTILE
    assert browser.search(operator)[0].startswith(operator)
    assert browser.find("details").text.startswith(operator)
    with pytest.raises(NoAlertPresentException):
        browser.driver.switch_to.alert.dismiss()
    assert browser.run("return document.images.length") == 0
    assert browser.run("return [...document.scripts].every((one) => one.closest('body') && !one.src)")
    assert browser.run("return document.scripts.length") == browser.page.read_text().count("</script>")
    browser.show("summary")
    text = browser.find("summary").text
    assert IMAGE in text
    assert HOSTILE in text
    title = HOSTILE + IMAGE if page == "hostile" else IMAGE
    assert browser.driver.find_element("tag name", "h1").text == title
