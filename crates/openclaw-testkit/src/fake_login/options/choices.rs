//! What there is to choose from.

use clap::ValueEnum;

/// How the MCP server asks for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum ChallengeStyle {
    /// With the address of its metadata and the scopes
    Full,
    /// With the address of its metadata alone
    NoScope,
    /// With the scopes alone
    NoAddress,
    /// With the word `Bearer` alone
    Bare,
    /// Without the header `WWW-Authenticate`
    None,
}

/// What the MCP server does for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum Public {
    /// It says who it is; lists and calls need a token
    Greeting,
    /// It says what it has, too, and does it; only the tool `admin` needs a token
    Tools,
}

/// Where the MCP server says who its authorization server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum ResourcePlace {
    /// At the well-known path, with that of the server behind it
    Inserted,
    /// At the well-known path
    Root,
    /// Somewhere that only the challenge tells
    Elsewhere,
    /// Nowhere
    None,
}

/// Where the authorization server describes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum ServerPlace {
    /// Where RFC 8414 has it: the well-known path stands before that of the issuer
    #[value(name = "rfc8414")]
    Rfc8414,
    /// Where `OpenID` Connect documents are, with the path of the issuer behind
    OidcInserted,
    /// Where `OpenID` Connect documents are, behind the path of the issuer
    OidcAppended,
    /// Nowhere
    None,
}

/// How clients prove their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum Method {
    /// Not at all
    #[value(name = "none")]
    None,
    /// With a secret in the header `Authorization`
    #[value(name = "client_secret_basic")]
    Basic,
    /// With a secret in the form
    #[value(name = "client_secret_post")]
    Post,
    /// With something that they signed
    #[value(name = "private_key_jwt")]
    Key,
}

impl Method {
    pub(in crate::fake_login) const ALL: [Self; 4] =
        [Self::None, Self::Basic, Self::Post, Self::Key];

    /// As it stands in documents.
    pub(in crate::fake_login) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::Key => "private_key_jwt",
        }
    }
}

/// Whom something signed must be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum AssertionAudience {
    /// The issuer or the token endpoint
    Either,
    /// The issuer
    Issuer,
    /// The token endpoint
    TokenEndpoint,
}

/// What happens to those who use a refresh token or a code. Nothing changes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum TokenFailure {
    /// The service is down
    #[value(name = "503")]
    Down,
    /// They ask too often
    #[value(name = "429")]
    TooOften,
    /// The error `invalid_grant`
    #[value(name = "invalid_grant")]
    InvalidGrant,
    /// The error `invalid_client`
    #[value(name = "invalid_client")]
    InvalidClient,
    /// The error `invalid_request`
    #[value(name = "invalid_request")]
    InvalidRequest,
    /// A page for a browser
    Html,
    /// No answer
    Hang,
    /// The connection ends
    HangUp,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::fake_login) enum Fault {
    /// The metadata name somebody else as the issuer
    WrongIssuer,
    /// The metadata name no issuer
    NoIssuer,
    /// The issuer has a slash at its end, which the MCP server leaves out
    IssuerSlash,
    /// The MCP server puts a slash behind the issuer
    ListedSlash,
    /// The endpoints are off loopback and without TLS
    HttpEndpoints,
    /// The endpoints are where clouds keep the credentials of machines
    PrivateEndpoints,
    /// The only challenge method is `plain`
    OnlyPlain,
    /// No challenge methods are named
    NoChallengeMethods,
    /// The MCP server says that it is another resource
    OtherResource,
    /// The metadata of the authorization server have 10 MB
    HugeMetadata,
    /// They are always one redirect away
    LoopingMetadata,
    /// They are at another origin
    MovedMetadata,
    /// They are a page for a browser
    HtmlMetadata,
    /// The service is down when it is asked for them
    DownMetadata,
    /// The metadata of the MCP server have 10 MB
    HugeResource,
    /// They are always one redirect away
    LoopingResource,
    /// They are at another origin
    MovedResource,
    /// They are a page for a browser
    HtmlResource,
    /// The service is down when it is asked for them
    DownResource,
    /// The browser brings the name of another issuer
    WrongIss,
    /// The browser brings no issuer, though it was promised (RFC 9207)
    NoIss,
    /// The browser brings no issuer, and none was promised
    SilentIss,
    /// The browser brings another state
    WrongState,
    /// The browser brings no state
    NoState,
    /// The type of tokens is written `bEaReR`
    OddTokenType,
    /// Tokens are of another type
    OtherTokenType,
    /// Nothing is said about the type of tokens
    NoTokenType,
    /// Nothing is said about how long tokens live
    NoExpiry,
    /// How long tokens live is a text
    TextExpiry,
    /// Nothing is said about what tokens allow
    NoScope,
    /// Errors have the status 200
    ErrorsAreOk,
    /// Tokens come as a form
    FormAnswer,
    /// Who registers is told that something is wrong
    RegistrationRefused,
    /// Who registers is told that nobody may
    RegistrationForbidden,
    /// Who registers gets a page for a browser
    RegistrationHtml,
    /// Who registers gets a secret that is an empty text
    EmptySecret,
    /// The service is down when tokens are given back
    RevocationDown,
}
