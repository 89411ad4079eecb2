//! The gateway's settings.

use crate::raw::address::Address;
use crate::raw::{RawCredential, RawPolicy};
use crate::shape::{Whole, choices, object};

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

object! {
    /// The gateway.
    open RawGateway as "gateway" {
        /// The port it listens on.
        port: Whole<1, 65_535> = "port", default 18789;
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
