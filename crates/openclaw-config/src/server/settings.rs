//! Settings that are one of a few words.

use crate::shape::choices;

choices! {
    /// How the tools of a server are named for models.
    pub enum ToolNaming {
        /// `mcp_github_create_issue`
        Prefixed = "mcp_{server}_{tool}",
        /// `github__create_issue`
        Joined = "{server}__{tool}",
    }
}

choices! {
    /// Which era of the protocol is spoken.
    pub enum ProtocolChoice {
        /// Found out by trying.
        Auto = "auto",
        /// With `initialize` and sessions, up to 2025-11-25.
        Legacy = "legacy",
        /// Stateless, from 2026-07-28 on.
        Modern = "modern",
    }
}

choices! {
    /// Who shares a connection.
    pub enum ServerScope {
        /// All agents and sessions.
        Shared = "shared",
        /// Each session has its own.
        Session = "session",
    }
}

choices! {
    /// What happens when the definition of a tool differs from the one first seen.
    pub enum PinPolicy {
        /// Nothing.
        Off = "off",
        /// It is reported.
        Warn = "warn",
        /// The tool can't be used until somebody approves it.
        Block = "block",
    }
}

choices! {
    /// How tokens are granted.
    pub enum GrantType {
        /// A person logs in with a browser.
        AuthorizationCode = "authorization_code",
        /// The client itself is who logs in.
        ClientCredentials = "client_credentials",
    }
}

choices! {
    /// The host of the callback of a login; only this machine.
    pub enum CallbackHost {
        /// The loopback address of IPv4.
        V4 = "127.0.0.1",
        /// The name of this machine.
        Localhost = "localhost",
        /// The loopback address of IPv6.
        V6 = "[::1]",
    }
}
