//! What the program is told on its command line, or while it runs.

mod choices;

use std::ffi::OsString;

use clap::{Args, Parser};

pub(super) use choices::{
    AssertionAudience, ChallengeStyle, Fault, Method, Public, ResourcePlace, ServerPlace,
    TokenFailure,
};

/// A fake authorization server and a fake MCP server that it protects: correct and strict unless a
/// flag says otherwise.
#[derive(Clone, Debug, Parser)]
#[command(name = "fake-login-server", disable_version_flag = true)]
pub(super) struct Options {
    #[command(flatten)]
    pub(super) resource: ResourceOptions,
    #[command(flatten)]
    pub(super) login: LoginOptions,
    #[command(flatten)]
    pub(super) clients: ClientOptions,
    #[command(flatten)]
    pub(super) tokens: TokenOptions,
    /// What is wrong
    #[arg(
        long = "fault",
        value_enum,
        value_name = "FAULT,…",
        value_delimiter = ','
    )]
    pub(super) faults: Vec<Fault>,
    /// Ends after so long, so that no test leaves it behind for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(super) process_lifetime: u64,
    /// Ignored; lets tests find the process by its command line
    #[arg(long, value_name = "TEXT")]
    pub(super) marker: Option<String>,
    /// Flags of the fake MCP server; they count at the start only
    #[arg(last = true, value_name = "FLAGS OF fake-mcp-server")]
    pub(super) mcp: Vec<OsString>,
}

/// About the MCP server.
#[derive(Clone, Debug, Args)]
pub(super) struct ResourceOptions {
    /// The scopes that every request needs
    #[arg(
        long,
        value_name = "SCOPE,…",
        value_delimiter = ',',
        default_value = "tools"
    )]
    pub(super) needs: Vec<String>,
    /// What it does for everybody, whether they show a token or not
    #[arg(long, value_enum)]
    pub(super) public: Option<Public>,
    /// How it asks for a token
    #[arg(long, value_enum, default_value_t = ChallengeStyle::Full)]
    pub(super) challenge: ChallengeStyle,
    /// Where it says who its authorization server is (RFC 9728)
    #[arg(long, value_enum, default_value_t = ResourcePlace::Inserted)]
    pub(super) resource_metadata: ResourcePlace,
    /// Names its origin as the resource, not its whole address
    #[arg(long)]
    pub(super) origin_resource: bool,
}

/// About the authorization server and its browser side.
#[derive(Clone, Debug, Args)]
pub(super) struct LoginOptions {
    /// Is at the origin of the MCP server; counts at the start only
    #[arg(long)]
    pub(super) together: bool,
    /// The path of the issuer
    #[arg(long, value_name = "PATH", default_value = "")]
    pub(super) issuer_path: String,
    /// Where it describes itself
    #[arg(long, value_enum, default_value_t = ServerPlace::Rfc8414)]
    pub(super) server_metadata: ServerPlace,
    /// Refuses every login
    #[arg(long)]
    pub(super) deny: bool,
    /// Asks a person first, with a page for a browser
    #[arg(long)]
    pub(super) consent_page: bool,
    /// Does not look at `resource` (RFC 8707)
    #[arg(long)]
    pub(super) lax_resource: bool,
    /// Takes no tokens back (RFC 7009)
    #[arg(long)]
    pub(super) no_revocation: bool,
}

/// About clients.
#[derive(Clone, Debug, Args)]
pub(super) struct ClientOptions {
    /// A client that was registered by hand, with its secret if it has one
    #[arg(long = "client", value_name = "ID[:SECRET]")]
    pub(super) known: Vec<String>,
    /// A client that was registered by hand, with the PEM of its public key
    #[arg(long = "client-key", value_name = "ID=FILE")]
    pub(super) keys: Vec<String>,
    /// How clients may prove their identity
    #[arg(
        long,
        value_enum,
        value_name = "METHOD,…",
        value_delimiter = ',',
        default_values_t = Method::ALL
    )]
    pub(super) authentication: Vec<Method>,
    /// Whom something signed must be for
    #[arg(long, value_enum, default_value_t = AssertionAudience::Either)]
    pub(super) assertion_audience: AssertionAudience,
    /// Lets nobody register
    #[arg(long)]
    pub(super) no_registration: bool,
    /// How long the secrets of clients that register live; for ever without it
    #[arg(long, value_name = "SECONDS")]
    pub(super) secret_lifetime: Option<u64>,
    /// Takes clients whose identifier is the address of a document about them, which it does not read
    #[arg(long)]
    pub(super) documents: bool,
}

/// About tokens.
#[derive(Clone, Debug, Args)]
pub(super) struct TokenOptions {
    /// How long access tokens live
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(super) lifetime: u64,
    /// Gives no refresh tokens
    #[arg(long)]
    pub(super) no_refresh_token: bool,
    /// Gives refresh tokens only with the scope `offline_access`
    #[arg(long)]
    pub(super) offline_access: bool,
    /// Gives no new refresh token when one is used: the old one stays
    #[arg(long)]
    pub(super) keep_refresh_token: bool,
    /// Takes a refresh token that was replaced for so long, if none that came after it was used
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(super) accept_repeats: u64,
    /// Ends the access tokens that came before when it gives a new one
    #[arg(long)]
    pub(super) single_access: bool,
    /// Waits so long before anything changes at the token endpoint, and again before the answer
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(super) token_delay: u64,
    /// What happens to those who use a refresh token
    #[arg(long, value_enum)]
    pub(super) fail_refresh: Option<TokenFailure>,
    /// What happens to those who exchange a code
    #[arg(long, value_enum)]
    pub(super) fail_exchange: Option<TokenFailure>,
    /// Scopes that are never granted
    #[arg(long, value_name = "SCOPE,…", value_delimiter = ',')]
    pub(super) withhold: Vec<String>,
}

impl Options {
    /// Reads flags as words with spaces between them.
    pub(super) fn read(flags: &str) -> Result<Self, clap::Error> {
        let words = std::iter::once("fake-login-server").chain(flags.split_whitespace());
        Self::try_parse_from(words)
    }

    /// Whether this is wrong.
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// All scopes that can be asked for.
    pub(super) fn scopes(&self) -> Vec<String> {
        let mut scopes = self.resource.needs.clone();
        scopes.push(super::ADMIN.to_owned());
        if self.tokens.offline_access {
            scopes.push(super::OFFLINE.to_owned());
        }
        scopes
    }
}
