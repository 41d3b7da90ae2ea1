"""A Slack-compatible workspace on loopback: Web API, Socket Mode, people, and a web page to be them.

The bot connects to it as it does to Slack, by Slack's protocol alone. `server` starts it; `web_api` is what the bot calls, `sockets` and
`delivery` what the bot is told, `people_api` what people do and see; `state` and `journal` are what was said and how it survives;
`block_kit` holds the limits.
"""

from bot.workspace.server import Workspace, start_workspace

__all__ = ["Workspace", "start_workspace"]
