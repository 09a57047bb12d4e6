"""Start BERT Explorer: `python app.py`, or `bert-explorer` where it is installed. `--help` lists the arguments.

Every argument can also come from the environment, --model as BERT_EXPLORER_MODEL, so that a Space needs none.
"""

import argparse
import base64
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ["GRADIO_HEARTBEAT_INTERVAL"] = "2"  # seconds between two signs, for which assets/components/connection.js listens
# At the end of each call Gradio would average the last 10,000 calls, for its analytics page, which is closed here.
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", str(10**12))
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")
# Let waiting threads of torch sleep, since other work needs the cores, but not at once: waking takes a third of a pass.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import gradio as gr
import huggingface_hub

from explorer.api.gradio_seams import prepare_launch, statuses_script, theme_css
from explorer.bert import devices
from explorer.core import disk, limits
from explorer.core.engine import when_loaded
from explorer.core.errors import ExplorerError, InputError, logger
from explorer.core.paths import ASSETS
from explorer.core.process import DEVICE, cores, keep_giving_back_memory, raise_most_files
from explorer.export import qr, ways
from explorer.page import first
from explorer.page.blocks import PageBlocks
from explorer.page.building import section_style
from explorer.page.components import page_head
from explorer.page.examples import EXAMPLES, first_subject
from explorer.page.shell import build
from explorer.server import assistants, gate, logs
from explorer.server.ahead import element
from explorer.server.page import Document
from explorer.server.routes import no_model
from explorer.server.serving import configure_uvicorn, guard
from explorer.server.stopping import Watch, serve_until_told
from explorer.tabs import TABS

TOKEN_WITHHELD = "HF_HUB_DISABLE_IMPLICIT_TOKEN"  # the name that huggingface_hub uses
SESSIONS = 1_000  # open pages whose state is kept
CANNOT_LISTEN = "The app cannot listen on {host}, port {port}: another program may use it. Choose others with --host and --port."
PAUSES = (1.0, 300.0)  # seconds between two attempts to load the default model: first and longest
PAINT = "<script>BertExplorer.page.paintFirst()</script>"  # at the end of the page's body
THEME = gr.themes.Base(
    primary_hue="blue", neutral_hue="slate", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the page, load the model meanwhile, and stay until SIGTERM or Ctrl-C."""
    sys.setswitchinterval(0.001)  # torch gives the interpreter away at every operation, hundreds of times a pass
    raise_most_files()
    os.umask(0o077)  # files written from here on are readable by the owner only
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that files of this process are removed
    if options.model:
        os.environ["BERT_EXPLORER_MODEL"] = options.model
    withhold_token()
    try:
        logs.configure(os.environ.get("BERT_EXPLORER_LOG", ""))
        blocks = launch(options.host, options.port, options.auth, options.mcp)
    except OSError as error:
        if error.filename is not None:  # an error about a file or folder, not about the address
            raise
        print(CANNOT_LISTEN.format(host=options.host, port=options.port), file=sys.stderr)
        raise SystemExit(2) from None
    gc.freeze()
    gc.enable()
    threading.Thread(target=keep_giving_back_memory, name="give-memory-back", daemon=True).start()
    threading.Thread(target=warm, name="warm-model", daemon=True).start()
    # Not before: reading torch from a slow disk may hold the interpreter for long.
    when_loaded(Watch(blocks.server, limits.FROZEN_SECONDS.most).begin)
    serve_until_told(blocks)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Explore BERT's internals in the browser.")

    def add(name: str, default: str, about: str, **more: Any) -> None:
        given = os.environ.get(f"BERT_EXPLORER_{name.upper()}") or default
        parser.add_argument(f"--{name}", default=given, help=about, **more)

    add("model", "", "a hub id or a folder with a BERT checkpoint (default: the bundled model)")
    add("host", "0.0.0.0" if limits.is_on_a_space() else "127.0.0.1", "address to listen on (default: %(default)s)")
    add("port", "7860", "port to listen on (default: %(default)s)", type=int)
    add("device", "cpu", "device for forward passes: cpu, cuda, cuda:1 or mps (default: %(default)s)")
    password = "a name and a password that visitors need; BERT_EXPLORER_AUTH keeps them out of the list of processes"
    add("auth", "", password, metavar="USER:PASSWORD")
    public = "the app is open to the public, as on a Space: smaller limits, no folders of this machine"
    parser.add_argument("--public", action="store_true", help=public)
    tools = "let assistants use the app by the Model Context Protocol; needs requirements-mcp.txt"
    asked = os.environ.get("BERT_EXPLORER_MCP", "").lower() in ("1", "true", "yes", "on")
    parser.add_argument("--mcp", action="store_true", default=asked, help=tools)
    options = parser.parse_args(arguments)
    if options.public:
        os.environ[limits.PROFILE] = "public"
    try:
        _check(options)
    except InputError as error:
        parser.error(str(error))
    os.environ[DEVICE] = options.device
    return options


def _check(options: argparse.Namespace) -> None:
    """Check the settings and the environment, and convert `auth`. Raises InputError."""
    if not 1 <= options.port <= 65_535:
        raise InputError("--port must be a number from 1 to 65,535.")
    user, _, secret = options.auth.partition(":")
    if options.auth and not (user and secret):
        raise InputError("--auth and BERT_EXPLORER_AUTH need a name and a password with a colon between them, USER:PASSWORD.")
    limits.read_environment()
    gate.check_environment()
    disk.check_environment()
    if options.mcp:
        assistants.prepare(with_password=bool(options.auth))
    if options.device != "cpu":
        devices.check(options.device)
    options.auth = (user, secret) if options.auth else None


def withhold_token() -> None:
    """If visitors name what is downloaded, query the Hub without the operator's HF_TOKEN, unless TOKEN_WITHHELD is set to 0."""
    if limits.is_public():
        os.environ.setdefault(TOKEN_WITHHELD, "1")
        huggingface_hub.constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = os.environ[TOKEN_WITHHELD] != "0"  # it was read at the import


def launch(host: str, port: int, auth: tuple[str, str] | None = None, mcp: bool = False) -> PageBlocks:
    """Build the page and serve it without blocking; every launch setting is here."""
    if "GRADIO_TEMP_DIR" not in os.environ:  # what is uploaded is for nobody else
        os.environ["GRADIO_TEMP_DIR"] = disk.temporary()
    blocks = build()
    blocks.opens_with = first.read()
    prepare_launch(blocks, limits.WAITING.most)
    configure_uvicorn()
    blocks.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        share=False,
        enable_monitoring=False,
        run_history=False,
        pwa=False,  # None would make it one on a Space
        strict_cors=True,
        max_file_size=limits.UPLOAD_MEGABYTES.bytes,
        state_session_capacity=SESSIONS,
        max_threads=2 * limits.WAITING.most,  # of its own: with 40, files and pages would wait for the same threads
        auth=auth,
        mcp_server=mcp,
        footer_links=["api"],
        favicon_path=ASSETS / "mark.svg",
        theme=THEME,
        css=(ASSETS / "style.css").read_text("utf-8") + section_style(),
        ssr_mode=False,  # Node would answer in front of the guards
        app_kwargs=guard(blocks, host, Document(our_head(blocks), element({"elements": blocks.opens_with}).decode() + PAINT)),
    )
    return blocks


def our_head(blocks: PageBlocks) -> str:
    """The page's head: its styles, so that nothing is laid out twice, and its scripts."""
    mark = base64.b64encode((ASSETS / "mark.svg").read_bytes()).decode("ascii")
    own = (ASSETS / "theme.css").read_text("utf-8") + f':root {{ --bx-mark: url("data:image/svg+xml;base64,{mark}"); }}'
    examples = [texts for texts in EXAMPLES.values() if texts[1]]
    known = {"longest": qr.LONGEST, "statuses": statuses_script(), "background": blocks.in_background, "examples": examples}
    known |= {"questions": {tab.id: tab.questions for tab in TABS}, "files": {way.key: way.label for way in ways.WAYS}}
    told = json.dumps({**known, "ends": blocks.ends}).replace("<", "\\u003c")
    data = f'<script type="application/json" id="bx-told">{told}</script>'  # read by assets/page/told.js
    return f"{(ASSETS / 'card.html').read_text('utf-8')}<style>{theme_css(THEME)}{own}</style>{data}{page_head('app.js')}"


def warm() -> None:
    """Load torch and the default model, which reads the first example. A failure is tried again, after pauses that double."""
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    pause, told = PAUSES[0], ""
    while True:
        try:
            _ = first_subject().trace
            no_model.clear()
            return
        except ExplorerError as error:  # the default model cannot be loaded, perhaps not yet
            if str(error) != told:
                print(told := str(error), flush=True)
            logger.warning("The default model cannot be used", exc_info=error)
        except Exception as error:  # this thread must not die: nothing else loads the model before a visitor needs it
            logger.error("The default model cannot be used", exc_info=error)
        no_model.set()
        time.sleep(pause)
        pause = min(2 * pause, PAUSES[1])
