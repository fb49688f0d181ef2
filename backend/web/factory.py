"""The Flask app: its routes, sockets and shared parts, wired together. Starts no process and no server."""

from __future__ import annotations

import logging
import mimetypes
from typing import Any

from flask import Flask
from flask_socketio import SocketIO

from backend.access.policy import Policy
from backend.address.short_links.short_links import ShortLinks
from backend.compute.live_searches.search_queue import SearchQueue
from backend.compute.pool import Limits, Pool
from backend.config import COMMAND, PROJECT, Config
from backend.errors import with_codes
from backend.runs import cluster_state
from backend.tasks.boards import Boards
from backend.web.classes import events as class_events
from backend.web.classes.feed import ClassFeed
from backend.web.classes.routes import classes
from backend.web.http import access, errors, security
from backend.web.http.background import run_in_background
from backend.web.http.computing import POOL, load_quick_work
from backend.web.http.gate import Gate, trust_proxies
from backend.web.http.responses import PageJson
from backend.web.http.server import Connections
from backend.web.openapi.document import openapi
from backend.web.routes.charts import charts
from backend.web.routes.compare import comparisons
from backend.web.routes.costs import costs
from backend.web.routes.export import exports
from backend.web.routes.health import PartFigures, health
from backend.web.routes.imports import imports
from backend.web.routes.lessons import lessons
from backend.web.routes.page import pages
from backend.web.routes.run_history import history
from backend.web.routes.runs import runs as run_routes
from backend.web.routes.schedule import keep_orders, schedules
from backend.web.routes.short_links import links
from backend.web.routes.standalone import components, standalone
from backend.web.routes.static_files import compress_static
from backend.web.routes.tasks import tasks
from backend.web.services import NAME, Services
from backend.web.sharing import Sharing
from backend.web.sockets import events, search_events
from backend.web.sockets.client_sockets import ClientSockets, close_silent, use_websockets
from backend.web.sockets.cluster_feed import ClusterFeed
from backend.web.sockets.run_feed import Feed

BLUEPRINTS = (
    pages, schedules, comparisons, costs, exports, charts, run_routes, history, imports, links,
    standalone, components, lessons, tasks, classes, health, openapi,
)  # fmt: skip


def create_app(config: Config | None = None) -> Flask:
    """Make an app with its own runs, cache and viewers."""
    config = config or Config()
    mimetypes.add_type("text/javascript", ".js")  # some systems' tables say otherwise, and modules then do not load
    app = Flask("bubbleline", static_folder=PROJECT / "static", template_folder=PROJECT / "templates")
    app.jinja_env.globals["command"] = COMMAND
    app.config.update(MAX_CONTENT_LENGTH=config.body_kb * 1024, SEND_FILE_MAX_AGE_DEFAULT=0)
    app.json = PageJson(app)
    compress_static(app)
    socketio = SocketIO(
        app, async_mode="gevent", async_handlers=False, manage_session=False,
        max_http_buffer_size=config.socket_kb * 1024,
        cors_allowed_origins=None,  # None: the server's own origin only
        logger=logging.getLogger("bubbleline.socketio"), engineio_logger=logging.getLogger("bubbleline.engineio"),
    )  # fmt: skip
    sockets, pages_open = events.Sockets(socketio), ClientSockets(config.sockets)
    sharing = Sharing(config)
    feed, cache = Feed(sockets), sharing.cache()
    hosts = ClusterFeed(sockets, lambda: cluster_state.answer(runs.client.engine, runs.client.cluster))
    runs = sharing.runs(feed.notify, hosts.notify)
    searches = SearchQueue(
        lambda viewer, update: socketio.emit("search", with_codes(update), to=viewer), keep_orders(cache),
        config.searches_at_once,
    )  # fmt: skip
    short_links = ShortLinks(
        config.database, config.links, sharing.hourly("links", config.links_per_hour), run_in_background
    )
    boards = Boards(
        config.database, config.board_entries, sharing.hourly("entries", config.entries_per_hour), run_in_background
    )
    class_feed = ClassFeed(sockets)
    own_classes = sharing.classes(class_feed.notify, run_in_background)
    class_feed.presence = own_classes.rooms
    import_rate = sharing.hourly("imports", config.imports_per_hour)
    parts = app.extensions[NAME] = Services(
        config, cache, feed, hosts, runs, searches, short_links, boards, own_classes, class_feed, import_rate,
        Connections(config.connections), pages_open,
    )  # fmt: skip
    load_quick_work()
    app.extensions[POOL] = Pool(
        Limits(
            config.workers, config.worker_seconds, config.worker_memory_mb, config.computations,
            config.computations_per_client,
        )
    )  # fmt: skip
    parts.metrics.registry.register(PartFigures(parts))
    close_silent(socketio)
    use_websockets(socketio)
    policy, pace = Policy(config), sharing.pace()
    errors.register(app)
    security.register(app)
    access.register(app, policy, pace)
    search_events.register(socketio)
    class_events.register(socketio)
    events.register(socketio)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    any_app: Any = app  # to Flask's types wsgi_app is a method; wrapping it is what its manual advises
    any_app.wsgi_app = trust_proxies(Gate(app.wsgi_app, config, policy, pace), config.proxies)
    return app
