//! The gateway's settings.

use crate::raw::address::Address;
use crate::raw::{RawCredential, RawPolicy};
use crate::shape::{NonEmpty, Whole, choices, object};

choices! {
    /// How clients of the gateway prove who they are.
    pub enum GatewayAuthMode {
        /// Not at all.
        None = "none",
        /// With a token.
        Token = "token",
        /// With a password.
        Password = "password",
    }
}

choices! {
    /// Which addresses of this machine the gateway listens on.
    pub enum GatewayBind {
        /// Only those that this machine itself can reach.
        Loopback = "loopback",
        /// The same.
        Auto = "auto",
        /// All of them. Clients have to prove who they are.
        Lan = "lan",
        /// The one of `customBindHost`. Clients have to prove who they are, unless it is a loopback address.
        Custom = "custom",
        /// The one that Tailscale gives this machine. Not supported: name it with `custom`.
        Tailnet = "tailnet",
    }
}

object! {
    /// The gateway.
    open RawGateway as "gateway" {
        /// The port it listens on.
        port: Whole<1, 65_535> = "port", default 18789;
        /// Which addresses of this machine it listens on.
        bind: GatewayBind = "bind", default "loopback";
        /// The address that it listens on with `bind: "custom"`, in digits.
        custom_bind_host: NonEmpty = "customBindHost";
        /// More names under which clients reach it. Requests under any other name are refused, since a
        /// page in a browser could be behind them; this machine's own, addresses in digits and the host
        /// of `publicUrl` need not be named.
        allowed_hosts: Vec<NonEmpty> = "allowedHosts";
        /// How clients prove who they are.
        auth: RawGatewayAuth = "auth";
        /// The public address under which the gateway can be reached.
        public_url: Address = "publicUrl";
        /// Another place for the tools that may be used.
        tools: RawPolicy = "tools";
    }
}

object! {
    /// How clients of the gateway prove who they are.
    open RawGatewayAuth as "gatewayAuth" {
        /// The way.
        mode: GatewayAuthMode = "mode", default "token";
        /// The token; one is made where none is given.
        token: RawCredential = "token";
        /// The password.
        password: RawCredential = "password";
    }
}
