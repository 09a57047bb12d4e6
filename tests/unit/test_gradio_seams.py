"""The installed Gradio has everything that we use of its internals, and nothing outside of one module uses them."""

import ast
import functools
import inspect
import re
from pathlib import Path

import gradio as gr
import pytest
from gradio import component_meta, http_server, queueing, route_utils, routes
from gradio.block_function import BlockFunction
from gradio.blocks import BlocksConfig, postprocess_update_dict
from gradio.context import LocalContext
from gradio.processing_utils import add_root_url
from gradio.state_holder import SessionState, StateHolder
from huggingface_hub.utils import _detect_agent

import explorer.app  # noqa: F401 - it sets Gradio's environment
from explorer.api import blocks_seams, gradio_seams

ROOT = Path(__file__).resolve().parents[2]
SEAMS = ROOT / "explorer" / "api" / "gradio_seams.py"
ALL_SEAMS = (SEAMS, SEAMS.with_name("blocks_seams.py"))
FRONT_END = Path(gr.__file__).parent / "templates" / "frontend"
MOVED = f"Gradio {gr.__version__} has moved something that {SEAMS.relative_to(ROOT)} relies on: "


# What the installed Gradio has

SIGNATURES = {
    gr.Blocks.process_api: "block_fn inputs state request iterator session_hash event_id",
    gr.Blocks.preprocess_data: "block_fn inputs state explicit_call",
    gr.Blocks.postprocess_data: "block_fn predictions state",
    gr.Blocks.validate_inputs: "block_fn inputs",
    gr.Blocks.get_api_info: "",
    gr.Blocks.get_config_file: "",
    routes.App.create_app: "blocks app app_kwargs",
    BlocksConfig.__init__: "root_block",
    BlocksConfig.config_for_block: "_id rendered_ids block",
    BlocksConfig.__copy__: "",
    SessionState.__init__: "blocks",
    postprocess_update_dict: "block update_dict postprocess",
    add_root_url: "data root_url previous_root_url",
    queueing.Queue.log_message: "event_id log title level duration",
    gr.HTML.get_block_name: "",
    route_utils.GradioMultiPartParser.on_part_data: "data start end",
    route_utils.GradioMultiPartParser.parse: "",
    gr.themes.Base._get_theme_css: "",
}
WRITTEN = {  # names in the code of a class, function or module
    LocalContext: "blocks event_id request",
    _detect_agent: "_registry",
    component_meta.ComponentMeta: "create_or_modify_pyi",
    component_meta.updateable: "inspect.getfullargspec(fn)",
    gradio_seams.Block: "inspect.signature(cls.__init__)",
    gr.Blocks: "self._queue self.default_config self.state_holder self.api_open self.exited self.config App.create_app(",
    http_server.start_server: "get_space()",
    BlocksConfig: "self.root_block self.blocks self.fns",
    SessionState: "self.blocks_config config_for_block",
    StateHolder: "self.session_data",
    route_utils.GradioMultiPartParser: "self._current_part.file self._current_part.data self._files_to_close_on_error",
    queueing.Event: "self._id self.session_hash self.alive",
    queueing.Queue: "self.active_jobs self.max_size self.pending_event_ids_session self.pending_messages_per_session __len__",
    BlockFunction: "self.inputs self.outputs self.targets self.concurrency_id self.api_visibility self.api_name self.preprocess",
    routes.App: "self.tokens self.cookie_id self.auth access-token-",
}


@pytest.mark.parametrize(("function", "names"), SIGNATURES.items(), ids=lambda one: getattr(one, "__qualname__", ""))
def test_what_is_called_and_overridden_takes_what_it_took(function, names):
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    wanted = names.split()
    assert parameters[: len(wanted)] == wanted, f"{MOVED}{function.__qualname__} takes {parameters}"


@pytest.mark.parametrize(("owner", "names"), WRITTEN.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_the_attributes_of_its_objects_are_there(owner, names):
    source = inspect.getsource(owner)
    missing = [name for name in names.split() if name not in source]
    assert not missing, f"{MOVED}{owner.__name__} has no {missing}"


def test_no_stub_stands_beside_our_code():
    stubs = [str(path.relative_to(ROOT)) for path in (ROOT / "explorer").rglob("*.pyi")]
    assert not stubs, f"mypy reads {stubs} instead of the code; remove them, and see whether Gradio writes them again"


def _one() -> int:
    return 1


def test_its_objects_have_what_we_ask_them():
    with blocks_seams.GradioBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox()
        gr.api(_one, api_name="one")
        event = box.change(lambda text: text, box, box)
        assert gradio_seams.page_being_built() is blocks, f"{MOVED}Context.root_block"
    assert event["id"] in blocks.fns, f"{MOVED}what a listener's registration returns"
    assert gradio_seams.component_id(box) in blocks.blocks, f"{MOVED}Block._id"
    assert gradio_seams.event_of(box.change) == ("change", box), f"{MOVED}a trigger's name and component"
    assert gradio_seams.event_of(functools.partial(event.success).func) == ("", None), f"{MOVED}has_trigger"
    assert gradio_seams.is_update(gr.update(value=1)), f"{MOVED}what gr.update returns"
    assert gradio_seams.props_of(gr.update(value=1, visible=False)) == {"value": 1, "visible": False}
    assert gradio_seams.props_sent(box, gr.Textbox(visible=False)) == {"visible": False}, f"{MOVED}constructor_args"
    assert [gradio_seams.holds_no_file(function) for function in blocks.fns.values()] == [True, False], f"{MOVED}Api"
    assert list(blocks.get_api_info()["named_endpoints"]) == ["/one", "/lambda"]
    assert gradio_seams.count_queued(blocks) == (0, 0)
    assert blocks.session_state("nobody") is None


def test_a_session_takes_the_components_without_their_configurations():
    with blocks_seams.GradioBlocks(analytics_enabled=False) as blocks:
        box = gr.Textbox("a")
    state = SessionState(blocks)
    assert state[gradio_seams.component_id(box)] is box
    assert not any(state.config_values.values()), f"{MOVED}a session makes the configuration of every component"


def test_calls_are_not_summed_up_for_a_page_that_is_closed():
    with blocks_seams.GradioBlocks(analytics_enabled=False) as blocks:
        queue = blocks._queue
    queue.events_recorded = 10_000
    call = {"function": "one", "status": "success", "process_time": 1.0}
    assert queue.compute_analytics_summary([call]) == {"functions": {}}
    assert queue.ANALYTICS_MAX_EVENTS == 100


@pytest.mark.parametrize("name", ["render_config", "render_id", "rendered_in", "gradio_config", "close_stream", "js_on_load"])
def test_the_front_end_knows_the_names_that_we_send_and_read(name):
    scripts = (path.read_text("utf-8", "ignore") for path in FRONT_END.rglob("*.js"))
    assert any(name in script for script in scripts), f"{MOVED}no script of its front end has {name!r}"


def test_the_front_end_has_the_statuses_that_we_change():
    script = (FRONT_END / gradio_seams.statuses_script()).read_text("utf-8")
    for name in ("LoadingStatus:()=>", "resolve_args(", "stream_state:"):
        assert name in script, f"{MOVED}{name!r}"
    tenths = re.search(r"TENTHS = /\^(.*)\$/;", (ROOT / "assets" / "statuses.js").read_text("utf-8"))[1]
    assert len(re.findall(tenths, script)) == 1, f"{MOVED}how it counts tenths of a second"


# Where it is used

INTERNAL_MODULES = re.compile(r"gradio\.|gradio_client|huggingface_hub\.utils\._|fastapi\.routing")
INTERNAL_NAMES = {
    *("process_api", "preprocess_data", "postprocess_data", "get_block_name", "config_for_block", "get_api_info"),
    *("default_config", "state_holder", "middleware_stack", "constructor_args", "has_trigger", "log_message", "active_jobs"),
    *("pending_event_ids_session", "pending_messages_per_session", "auth_dependency", "cookie_id", "LocalContext"),
}
INTERNAL_STRINGS = {"render_config", "__type__", "rendered_in"}
OWN = {"self", "cls", "os"}
NAMED_TUPLE = {"_replace", "_asdict", "_fields"}


def _internals_in(path: Path) -> set[str]:
    """The internals of Gradio that a module names."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    found, of_gradio = set(), bool({"page", "api", "server", "app", "endpoints"} & set(parts[1:3]))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names if INTERNAL_MODULES.match(one.name)}
            case ast.ImportFrom(module=str(module)) if INTERNAL_MODULES.match(module):
                found.add(module)
            case ast.ImportFrom(module=str(module), names=names):
                found |= {one.name for one in names if INTERNAL_MODULES.match(f"{module}.{one.name}")} if "_" in module else set()
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in INTERNAL_NAMES:
                found.add(name)
            case ast.Constant(value=str(text)) if text in INTERNAL_STRINGS:
                found.add(repr(text))
            case ast.Attribute(attr=name) if name in INTERNAL_NAMES:
                found.add(f".{name}")
            case ast.Attribute(value=value, attr=name) if of_gradio and re.match(r"_[a-z]", name) and name not in NAMED_TUPLE:
                if not (isinstance(value, ast.Name) and value.id in OWN):
                    found.add(f".{name}")
    return found


def test_nothing_else_names_the_internals_of_gradio():
    used = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in sorted((ROOT / "explorer").rglob("*.py"))
        if path not in ALL_SEAMS
        for name in _internals_in(path)
    }
    assert not used, f"move these into {SEAMS.relative_to(ROOT)}, with the reason: {sorted(used)}"
