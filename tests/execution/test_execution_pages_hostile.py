"""Pages that mean harm: a bounded picture or a bounded refusal, the next page as undisturbed, and nothing reached."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from execution_page import PLAIN, Draw, pixel, script
from PIL import Image

from deepchart_dagster.execution import browser
from deepchart_dagster.execution.model import RunStatus
from deepchart_dagster.execution.runner import LocalRunner

pytestmark = pytest.mark.slow

OK, TIMEOUT, CRASH, BLANK = RunStatus.OK, RunStatus.TIMEOUT, RunStatus.CRASH, RunStatus.INVALID_OUTPUT
RED = (255, 0, 0)
SPIN = "while (true);"
WORKER = "new Worker(URL.createObjectURL(new Blob(['while (true);'])))"


@pytest.fixture(scope="module")
def page_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRunner]:
    if browser.find_browser() is None:
        pytest.skip("no Chromium on this machine")
    with LocalRunner(libraries=tmp_path_factory.mktemp("none"), workers=2) as runner:
        yield runner


# A page that marks itself: what stands there in the end is still the page.
MARKED = "<div style='position:fixed;left:0;top:0;width:99px;height:99px;background:#ff0000'></div><p>text"


def marked(code: str) -> str:
    return script(code, MARKED)


NEVER_ENDS = {
    "inline": script(SPIN),
    "after load": script(f"addEventListener('load', () => {{ {SPIN} }})"),
    "in a timer": script(f"setTimeout(() => {{ {SPIN} }}, 10)"),
    "in an animation frame": script(f"requestAnimationFrame(() => {{ {SPIN} }})"),
    "in microtasks": script("(function f() { Promise.resolve().then(f) })()"),
    "catastrophic regex": script("/(a+)+$/.test('a'.repeat(40) + 'b')"),
    "in a frame": script("", f"<iframe srcdoc='<script>{SPIN}</script>'></iframe>"),
    "in a popup": script(f"const w = open('about:blank'); w.document.write('<script>{SPIN}<\\/script>')"),
    "in a blob that it goes to": script(
        f"location.href = URL.createObjectURL(new Blob(['<script>{SPIN}<\\/script>'], {{type: 'text/html'}}))"
    ),
    "a log without end": script("while (true) console.log('x'.repeat(1000))"),
    "frames in frames": script(
        "(function n(d) { const f = d.createElement('iframe'); f.srcdoc = '<p>x'; d.body.append(f);"
        " f.onload = () => n(f.contentDocument) })(document)"
    ),
    "requests in a row": script(
        "while (true) { try { const x = new XMLHttpRequest(); x.open('GET', 'http://example.com/', false); x.send() }"
        " catch (e) { continue } }"
    ),
    "filters that keep the compositor": "<style>div{filter:blur(90px);width:100vw;height:100vh}</style>"
    + "<div>" * 300
    + "x",
    "10 million shapes": "<svg width=900 height=900><defs><g id=a0><rect width=9 height=9 /></g>"
    + "".join(f"<g id=a{n}>{f'<use href=#a{n - 1} />' * 10}</g>" for n in range(1, 8))
    + "</defs><use href=#a7 /></svg>",
}


@pytest.mark.parametrize("name", NEVER_ENDS)
def test_a_page_without_end_is_ended(draw: Draw, undisturbed: bytes, name: str) -> None:
    start = time.monotonic()
    result = draw(NEVER_ENDS[name], wall_s=3.0)
    assert (result.status, result.output) == (TIMEOUT, None)
    assert result.message.startswith("the page was not drawn within 3 s")
    assert time.monotonic() - start < 20
    assert draw(PLAIN).output == undisturbed


STAYS_AS_IT_IS = {
    "dialogs": "for (let n = 0; n < 100; n++) { alert(n); confirm(n); prompt(n) }",
    "dialog of a frame": "const f = document.createElement('iframe'); document.body.append(f);"
    " f.contentWindow.alert('x')",
    "popups": "for (let n = 0; n < 20; n++) window.open('https://example.com/' + n)",
    "popups by links": "for (let n = 0; n < 20; n++) { const a = document.createElement('a'); a.target = '_blank';"
    " a.href = 'https://example.com/' + n; document.body.append(a); a.click() }",
    "navigation": "location.href = 'https://example.com/'",
    "navigation to a file": "location.href = 'file:///etc/passwd'",
    "navigation to the browser's own pages": "location.href = 'chrome://version'",
    "navigation to a crash": "location.href = 'chrome://crash'",
    "navigation by refresh": "document.head.innerHTML = '<meta http-equiv=refresh content=\"0;url=https://x.org/\">'",
    "navigation by form": "const f = document.createElement('form'); f.action = 'https://x.org/'; f.method = 'post';"
    " document.body.append(f); f.submit()",
    "loads itself again": "location.reload()",
    "loads itself again and again": "setTimeout(() => location.reload(), 1)",
    "itself in a frame": "const f = document.createElement('iframe'); f.src = location.href; document.body.append(f)",
    "closes itself": "window.close()",
    "history": "for (let n = 0; n < 100; n++) history.pushState(n, '', '/' + n); history.go(-50)",
    "asks before it goes": "addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 1 });"
    f"addEventListener('pagehide', () => {{ {SPIN} }}); addEventListener('unload', () => {{ {SPIN} }})",
    "busy waits that end": "const t = performance.now(); while (performance.now() - t < 500); const u = Date.now();"
    "while (Date.now() - u < 500); const v = new Date(); while (new Date() - v < 500)",
    "timers without pause": "setInterval(() => document.title += '.', 0)",
    "frames without end": "(function f() { document.title += '.'; requestAnimationFrame(f) })()",
    "slow frames without end": "(function f() { let x = 0; for (let n = 0; n < 2e7; n++) x += n;"
    " requestAnimationFrame(f) })()",
    "four workers": f"for (let n = 0; n < 4; n++) {WORKER}",
    "workers of workers": "const c = 'for (let n = 0; n < 3; n++) new Worker(URL.createObjectURL(new Blob([name])),"
    f" {{name}}); {SPIN}'; new Worker(URL.createObjectURL(new Blob([c])), {{name: c}})",
    "shared worker": f"new SharedWorker(URL.createObjectURL(new Blob(['{SPIN}'])))",
    "service worker": "navigator.serviceWorker && navigator.serviceWorker.register('/worker.js')",
    "a download": "const a = document.createElement('a'); a.download = 'x.bin';"
    " a.href = URL.createObjectURL(new Blob([new Uint8Array(1e8)])); a.click()",
    "a million pixels high": "const d = document.createElement('div'); d.style = 'height:1000000px;width:100000px;"
    "background:linear-gradient(red,blue)'; document.body.append(d)",
    "canvas of 30,000²": "const c = document.createElement('canvas'); c.width = c.height = 3e4;"
    "document.body.append(c); c.getContext('2d').fillRect(0, 0, 9, 9)",
    "webgl": "const c = document.createElement('canvas'); document.body.append(c); const g = c.getContext('webgl');"
    " console.log('webgl', Boolean(g)); g && g.clear(g.COLOR_BUFFER_BIT)",
    "what is never answered": "document.body.insertAdjacentHTML('beforeend', '<img src=https://example.com/x.png>"
    "<link rel=stylesheet href=https://example.com/x.css><style>@import url(https://example.com/y.css);"
    "@font-face{font-family:F;src:url(https://example.com/f.woff)} p{font-family:F}</style>');"
    "const s = document.createElement('script'); s.src = 'https://example.com/x.js'; document.body.append(s)",
    "fonts that are never ready": "Object.defineProperty(document, 'fonts',"
    " {value: {status: 'loading', ready: new Promise(() => 0)}})",
    "errors without end": "setInterval(() => { throw new Error('x'.repeat(1e5)) }, 0)",
    "no frames, no clock": "requestAnimationFrame = () => 0; Date = null; __deepchartClock = null",
    "no ground to stand on": "JSON.stringify = () => { throw 1 }; Promise = Map = Set = Reflect = null;"
    "Array.prototype.toJSON = () => { while (true); }; Array.prototype[Symbol.iterator] = null;"
    "document.getAnimations = () => { throw 1 }; MessagePort.prototype.postMessage = null;"
    "Object.defineProperty(document, 'querySelectorAll', {get() { throw 2 }}); window.echarts = {}; window.Chart = {}",
}


@pytest.mark.parametrize("name", STAYS_AS_IT_IS)
def test_mischief_leaves_the_page_as_it_is(draw: Draw, undisturbed: bytes, name: str) -> None:
    result = draw(marked(STAYS_AS_IT_IS[name]), wall_s=30.0)
    assert result.status is OK, result.message
    assert pixel(result, 50, 50) == RED
    assert result.wall_s < 20
    assert draw(PLAIN).output == undisturbed


BOUNDED = {
    "goes to an empty page": (marked("setTimeout(() => { location.href = 'about:blank' }, 10)"), {BLANK}),
    "writes itself anew": (script("document.open(); document.write('<h1>anew'); window.close()"), {OK}),
    "broken html": ("<table><tr><svg><rect width=99 height=99><b></p><!-- <script", {OK}),
    "no html": ("\0\1\2 text \ud800", {OK}),
    "a string as long as can be": (script("console.log('x'.repeat(3e8))"), {OK, CRASH, TIMEOUT}),
    "300,000 nodes": (
        script("let s = ''; for (let n = 0; n < 3e5; n++) s += '<p>' + n + '</p>'; document.body.innerHTML = s"),
        {OK, TIMEOUT},
    ),
    "20,000 requests": (
        script("for (let n = 0; n < 2e4; n++) fetch('http://example.com/' + n).catch(() => 0)"),
        {OK, TIMEOUT},
    ),
    "heap": (
        script("const held = []; while (true) held.push(new Array(1e6).fill(Math.random()))"),
        {CRASH, TIMEOUT},
    ),
    "4 GB of buffers": (
        script("const held = []; for (let n = 0; n < 64; n++) held.push(new Uint8Array(1 << 26).fill(1));"),
        {OK, CRASH, TIMEOUT},
    ),
    "4 GB of WebAssembly": (
        script("const m = new WebAssembly.Memory({initial: 1, maximum: 65536}); m.grow(65000);"),
        {OK, CRASH, TIMEOUT},
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_the_result_is_bounded(draw: Draw, undisturbed: bytes, name: str) -> None:
    html, allowed = BOUNDED[name]
    result = draw(html, wall_s=15.0)
    assert result.status in allowed, result.message
    assert len(result.stdout_tail) + len(result.stderr_tail) + len(result.message) < 50_000
    assert len(result.requests) <= 200
    assert draw(PLAIN).output == undisturbed


def test_buffers_are_limited(draw: Draw) -> None:
    code = "const held = []; for (let n = 0; n < 64; n++) held.push(new Uint8Array(1 << 26).fill(1)); console.log(64)"
    result = draw(script(code), wall_s=60.0)
    assert "64" not in result.stdout_tail
    assert result.status is CRASH or "allocation failed" in result.stderr_tail


def test_a_page_that_hangs_does_not_change_its_neighbours(draw: Draw, undisturbed: bytes) -> None:
    with ThreadPoolExecutor(2) as pool:
        hanging = pool.submit(draw, NEVER_ENDS["filters that keep the compositor"], 3.0)
        neighbours = [pool.submit(draw, PLAIN).result(60) for _ in range(6)]
        assert hanging.result(60).status is TIMEOUT
    assert {result.output for result in neighbours} == {undisturbed}


def test_files_of_the_host_cannot_be_seen(draw: Draw, tmp_path: Path) -> None:
    secret = tmp_path / "secret.svg"
    secret.write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' width='1400' height='500'>"
        "<rect width='1400' height='500' fill='#00ff00'/></svg>"
    )
    secret.chmod(0o644)
    url = secret.as_uri()
    html = f"""<body style='margin:0'><p>visible</p><iframe src='{url}' width=600 height=300></iframe><img src='{url}'>
    <object data='{url}' width=300 height=300></object><embed src='{url}'>
    <script>fetch('{url}').then(r => r.text()).then(t => document.body.style.background = '#00ff00')
    .catch(() => console.log('blocked'))</script>"""
    result = draw(html)
    assert result.output is not None, result.message
    colours = Image.open(io.BytesIO(result.output)).convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert (0, 255, 0) not in {colour for _, colour in colours}
    assert "blocked" in result.stdout_tail


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """An address of this machine and what is said to it, by TCP or UDP."""
    heard: list[bytes] = []
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        udp.bind(tcp.getsockname())
        tcp.settimeout(0.1)
        udp.settimeout(0.1)
        done = threading.Event()

        def listen() -> None:
            while not done.is_set():
                with suppress(TimeoutError):
                    connection, _ = tcp.accept()
                    heard.append(b"tcp")
                    connection.close()
                with suppress(TimeoutError):
                    heard.append(udp.recv(100))

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield f"127.0.0.1:{tcp.getsockname()[1]}", heard
            time.sleep(0.5)
        finally:
            done.set()
            thread.join()


def test_the_listener_hears() -> None:
    with listening() as (here, heard):
        host, port = here.split(":")
        socket.create_connection((host, int(port)), timeout=5).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"udp", (host, int(port)))
        time.sleep(0.5)
    assert sorted(heard) == [b"tcp", b"udp"]


REACHING = {
    "fetch": (
        "for (const u of ['http://HERE/', 'http://localhost:PORT/', 'http://[::1]:PORT/', 'https://HERE/',"
        " 'http://169.254.169.254/latest']) fetch(u, {mode: 'no-cors'})"
        ".then(() => console.log('REACHED ' + u), () => console.log('refused ' + u))",
        "",
    ),
    "web socket": ("new WebSocket('ws://HERE/').onopen = () => console.log('REACHED')", ""),
    "beacon and events": ("navigator.sendBeacon('http://HERE/b', 'x'); new EventSource('http://HERE/e')", ""),
    "workers": (
        "new Worker(URL.createObjectURL(new Blob([\"fetch('http://HERE/'); new WebSocket('ws://HERE/');"
        "importScripts('http://HERE/i.js')\"])))",
        "",
    ),
    "webrtc": (
        "const p = new RTCPeerConnection({iceServers: [{urls: 'stun:HERE'}, {username: 'a', credential: 'b', urls:"
        " ['turn:HERE?transport=tcp', 'turn:HERE?transport=udp', 'turns:HERE?transport=tcp']}]});"
        "p.createDataChannel('a'); p.createOffer().then(o => p.setLocalDescription(o))",
        "",
    ),
    "connections in advance": (
        "",
        "<link rel=preconnect href='http://HERE/'><link rel=dns-prefetch href='//HERE/'>"
        "<link rel=prefetch href='http://HERE/'><link rel=modulepreload href='http://HERE/m.js'>"
        '<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["http://HERE/"]}],'
        ' "prefetch": [{"source": "list", "urls": ["http://HERE/2"]}]}</script>',
    ),
    "parts of the page": (
        "new Image().src = 'http://HERE/'",
        "<link rel=stylesheet href='http://HERE/'><iframe src='http://HERE/'></iframe><video src='http://HERE/'>"
        "</video><object data='http://HERE/'></object><svg><image href='http://HERE/'/></svg>",
    ),
    "a frame of another origin": (
        "",
        "<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('http://HERE/'); new WebSocket('ws://HERE/');"
        "new Image().src = 'http://HERE/'</script>\"></iframe>",
    ),
    "reports": (
        "document.getElementById('a').click()",
        "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri http://HERE/\">"
        "<img src=data:image/png;base64,x><a id=a ping=http://HERE/ href=#>a</a>",
    ),
    "popups and navigation": ("open('http://HERE/'); location.href = 'http://HERE/'", ""),
}


@pytest.mark.parametrize("name", REACHING)
def test_nothing_is_reached(draw: Draw, name: str) -> None:
    code, body = REACHING[name]
    with listening() as (here, heard):
        html = script(code, f"<h1>x</h1>{body}").replace("HERE", here).replace("PORT", here.partition(":")[2])
        result = draw(html)
    assert heard == []
    assert result.status is OK, result.message
    assert "REACHED" not in result.stdout_tail
    if name == "fetch":
        assert result.stdout_tail.count("refused http") == 5
        assert {request.outcome for request in result.requests} == {"refused"}
        assert f"http://{here}/" in result.message


def test_pages_do_not_see_each_other(draw: Draw) -> None:
    draw(
        script(
            "localStorage.setItem('k', 'left'); document.cookie = 'k=left'; indexedDB.open('left');"
            "new BroadcastChannel('k').postMessage('left'); window.name = 'left'"
        )
    )
    result = draw(
        script(
            "new BroadcastChannel('k').onmessage = (e) => console.log('heard');"
            "indexedDB.databases().then(d => console.log('seen:' + localStorage.getItem('k') + document.cookie"
            " + window.name + d.length + history.length))"
        )
    )
    assert result.stdout_tail == "log: seen:null01"
