//! The whole file.

use crate::raw::agents::RawAgents;
use crate::raw::models::RawModels;
use crate::raw::secrets::RawSecrets;
use crate::raw::server::{Servers, WholeServers};
use crate::raw::sessions::RawSession;
use crate::raw::{RawDiagnostics, RawGateway, RawMedia, RawPolicy, RawSkills, RawTools};
use crate::server::ToolNaming;
use crate::shape::{Literal, Named, Whole, object};

/// The longest interval, in milliseconds: 49 days.
type Interval = Whole<0, 4_294_967_295>;
type ServerCount = Whole<1, 100_000>;

object! {
    /// The configuration file `openclaw.json`, in JSON5. Keys that are not described here belong
    /// to other parts of OpenClaw and are ignored.
    open RawRoot as "openclaw" {
        /// MCP servers and what holds for all of them.
        mcp: RawMcp = "mcp";
        /// Agents: their servers, models and tools.
        agents: RawAgents = "agents";
        /// Which tools may be used, and when a person is asked.
        tools: RawTools = "tools";
        /// Another name for `tools.allow` and `tools.deny`.
        tool_policy: RawPolicy = "toolPolicy";
        /// The plugin block, another place for servers.
        plugins: RawPlugins = "plugins";
        /// Where models are.
        models: RawModels = "models";
        /// Sessions: what was said with agents.
        session: RawSession = "session";
        /// Skills: where they are looked for, and which of them are used.
        skills: RawSkills = "skills";
        /// Files that come with messages.
        media: RawMedia = "media";
        /// Where secrets are.
        secrets: RawSecrets = "secrets";
        /// The gateway.
        gateway: RawGateway = "gateway";
        /// What is told to those who watch over many programs.
        diagnostics: RawDiagnostics = "diagnostics";
        /// Variables for `${VAR}`.
        env: RawEnvironment = "env";
    }
}

object! {
    /// MCP servers and what holds for all of them.
    open RawMcp as "mcp" {
        /// The servers by name. A name has 1 to 64 characters, without control characters and `/`.
        servers: WholeServers = "servers";
        /// How often the tools of a server are listed again, in milliseconds; 0 only when the
        /// server says that they changed, and after a reconnect.
        tool_discovery_interval: Interval = "toolDiscoveryInterval", default 300000;
        /// How many servers may be connected at a time. Without it: all.
        max_concurrent_servers: ServerCount = "maxConcurrentServers";
        /// How tools are named for models.
        tool_naming: ToolNaming = "toolNaming", default "mcp_{server}_{tool}";
        /// Logs what happens with servers in detail.
        debug: bool = "debug", default false;
    }
}

object! {
    /// Plugins; only the one named `mcp-client` is read.
    open RawPlugins as "plugins" {
        /// The plugins by name.
        entries: RawPluginEntries = "entries";
    }
}

object! {
    /// The plugins by name.
    open RawPluginEntries as "pluginEntries" {
        /// The block of the MCP client plugin.
        mcp_client: RawPluginBlock = "mcp-client";
    }
}

object! {
    /// The block of the MCP client plugin.
    open RawPluginBlock as "pluginBlock" {
        /// Whether its servers are used.
        enabled: bool = "enabled", default true;
        /// Its servers and what holds for them.
        config: RawPluginConfig = "config";
    }
}

object! {
    /// Servers of the plugin block and what holds for them.
    open RawPluginConfig as "pluginConfig" {
        /// The servers by name, laid over those of the same name in `mcp.servers`.
        servers: Servers = "servers";
        /// How often the tools of these servers are listed again, in milliseconds.
        tool_discovery_interval: Interval = "toolDiscoveryInterval", default 300000;
        /// How many of these servers may be connected at a time.
        max_concurrent_servers: ServerCount = "maxConcurrentServers", default 20;
        /// How the tools of these servers are named for models.
        tool_naming: ToolNaming = "toolNaming", default "{server}__{tool}";
        /// Logs what happens with servers in detail.
        debug: bool = "debug", default false;
    }
}

object! {
    /// Variables for `${VAR}`.
    open RawEnvironment as "environment" {
        /// Variables that count where neither the environment nor a `.env` file has them.
        vars: Named<Literal> = "vars";
    }
}
