//! One MCP server as it stands in the file.

use serde_json::{Value as Json, json};

use crate::expand::Text;
use crate::parse::printable;
use crate::raw::RawCredential;
use crate::raw::address::{Address, PublicAddress, SecureAddress};
use crate::raw::entries::{self, Entries};
use crate::raw::variables::{HeaderMap, VariableMap};
use crate::report::{Kind, Problem};
use crate::server::{CallbackHost, GrantType, PinPolicy, ProtocolChoice, ServerName, ServerScope};
use crate::shape::{
    Context, Definitions, Milliseconds, NonEmpty, Port, Shape, Whole, choices, object, reference,
};
use crate::tree::{Member, Node, Value};

choices! {
    /// How a server is spoken to, in all spellings.
    pub(crate) enum TransportWord {
        /// A program that is started here.
        Stdio = "stdio",
        /// Streamable HTTP.
        Http = "http",
        /// Another spelling of `http`.
        StreamableHttp = "streamable-http",
        /// HTTP with server-sent events, the older way.
        Sse = "sse",
    }
}

object! {
    /// One MCP server: a program to start (`command`) or an address to connect to (`url`).
    traced RawServer as "server" {
        /// Whether the server is used. In an agent, `false` switches it off for that agent alone.
        enabled: bool = "enabled", default true;
        /// How to speak to the server. Without it, `command` means `stdio` and `url` means `http`.
        transport: TransportWord = "transport" | "type";

        /// The program to start, looked up on the `PATH`. Needed for `stdio`.
        command: NonEmpty = "command";
        /// The program's arguments. References to secrets are refused here, because every process
        /// of the machine can read a command line: use `env`.
        args: Vec<Argument> = "args", default [];
        /// Variables for the program's environment, beside the usual ones (`PATH`, `HOME`, …).
        /// Names that change what a program loads (`NODE_OPTIONS`, `LD_PRELOAD`, …) are dropped.
        env: VariableMap = "env", default {};
        /// Hands over more of our own environment: `true` for all of it, or a list of names.
        inherit_env: Inherit = "inheritEnv", default false;
        /// The program's working directory, relative to the configuration file; `~` is the home
        /// directory. Without it: ours.
        cwd: NonEmpty = "cwd";

        /// The server's address. Needed for `http` and `sse`. `https`, or `http` to this machine.
        url: NonEmpty = "url";
        /// HTTP headers for every request. An `Authorization` here wins over `apiKey` and OAuth.
        headers: HeaderMap = "headers", default {};
        /// A key that is sent as `Authorization: Bearer …`.
        api_key: RawCredential = "apiKey";
        /// `"oauth"`, or the settings of the OAuth login. Without it, a login is offered when the
        /// server asks for one.
        auth: Auth = "auth";
        /// More settings of the OAuth login; the same fields as the object of `auth`.
        oauth: RawOAuth = "oauth";
        /// Permits `http` to other machines, where anybody between can read along.
        allow_insecure_http: bool = "allowInsecureHttp", default false;
        /// Whether the server's certificate is checked.
        ssl_verify: bool = "sslVerify", default true;
        /// A file with certificates (PEM) of authorities to trust beside the system's.
        ca_cert: NonEmpty = "caCert";
        /// A file with our certificate (PEM), for servers that ask for one.
        client_cert: NonEmpty = "clientCert";
        /// A file with the key (PEM) of `clientCert`.
        client_key: NonEmpty = "clientKey";

        /// Which era of the protocol to speak: tried out, the one with `initialize`, or the
        /// stateless one.
        protocol: ProtocolChoice = "protocol", default "auto";
        /// Directories or `file://` addresses that are announced to the server as its roots. Only
        /// set them where they should replace those that the server was given otherwise.
        roots: Vec<NonEmpty> = "roots";

        /// How long connecting may take, in milliseconds: starting the program and finding the
        /// protocol included. 10000 for servers of the plugin block.
        connection_timeout: Milliseconds = "connectionTimeoutMs" | "timeout" | "connectTimeoutMs", default 30000;
        /// How long a call may be silent, in milliseconds; progress starts the time anew. 30000 for
        /// servers of the plugin block.
        request_timeout: Milliseconds = "requestTimeoutMs" | "toolTimeout", default 60000;
        /// How long a call may take in all, in milliseconds.
        max_total_timeout: Milliseconds = "maxTotalTimeoutMs", default 600000;
        /// Whether calls may run at the same time; `false` runs them one after the other.
        parallel: bool = "supportsParallelToolCalls", default true;

        /// Whether a program that ended is started again.
        restart_on_crash: bool = "restartOnCrash", default true;
        /// How often it is started again in a row before it counts as failed; a minute of health
        /// starts the count anew. Waiting for what it has nothing to do with, such as a free
        /// descriptor, does not count.
        max_restarts: Whole<0, 4_294_967_295> = "maxRestarts", default 5;
        /// Starts the server when it is first needed.
        lazy: bool = "lazy", default false;
        /// Stops a server that was not used for so many milliseconds.
        idle_timeout: Milliseconds = "idleTimeoutMs";
        /// `shared` gives all agents and sessions one connection, `session` each session its own,
        /// for servers that keep a state such as a browser.
        scope: ServerScope = "scope", default "shared";

        /// What stands for the server's name in the names of its tools.
        tool_prefix: NonEmpty = "toolPrefix";
        /// Which of the server's tools are offered.
        tool_filter: RawToolFilter = "toolFilter";
        /// Whether the model sees the definitions of the server's tools at once, also where it has to
        /// search for others.
        always_load: bool = "alwaysLoad", default false;
        /// Whether the server's own word that a tool only reads is believed.
        trust_annotations: bool = "trustAnnotations", default false;
        /// What happens when the definition of a tool differs from the one first seen.
        pin: PinPolicy = "pin", default "warn";
        /// How many bytes of text of a result reach the model at once.
        max_result_bytes: Whole<1, 104_857_600> = "maxResultBytes", default 100_000;
        /// Which of the server's resources stand beside every message to an agent that has it.
        resources: RawResources = "resources";
    }
}

object! {
    /// Which tools of a server are offered, by their own names; `*` stands for any text.
    closed RawToolFilter as "toolFilter" {
        /// Only these.
        include: Vec<NonEmpty> = "include";
        /// Not these.
        exclude: Vec<NonEmpty> = "exclude";
    }
}

object! {
    /// Resources that are read at the beginning of every turn and stand beside the message, as
    /// untrusted content.
    closed RawResources as "resources" {
        /// Which ones, by their addresses or as `SERVER/ADDRESS`; `*` stands for any text. In a
        /// server, an address without `*` is read although the server does not list it.
        inject: Vec<NonEmpty> = "inject", default [];
        /// How many bytes of them a model gets at most: of one server, or of all servers of an
        /// agent. Without it, an agent gets 50000, and a server has no limit of its own.
        max_bytes: Whole<1, 1_000_000> = "maxBytes";
    }
}

object! {
    /// The settings of an OAuth login. Without them everything is found out from the server.
    layered RawOAuth as "oauth" {
        /// How tokens are granted: `client_credentials` needs no person, but a `clientId` with a
        /// `clientSecret` or a `privateKey`.
        grant_type: GrantType = "grantType", default "authorization_code";
        /// The identifier of a client that was registered by hand.
        client_id: NonEmpty = "clientId";
        /// The secret of that client.
        client_secret: RawCredential = "clientSecret";
        /// The private key of that client, in PEM, where it signs instead of having a secret
        /// (`private_key_jwt`).
        private_key: RawCredential = "privateKey";
        /// The identifier of that key, where the authorization server wants to see one.
        key_id: NonEmpty = "keyId";
        /// The authorization server, instead of the one that the server names.
        authorization_server_url: SecureAddress = "authorizationServerUrl";
        /// The scopes to ask for, instead of those that the server names.
        scopes: Vec<NonEmpty> = "scopes";
        /// The same as one string, separated by blanks.
        scope: NonEmpty = "scope";
        /// The whole address of the callback, for clients that were registered with one.
        redirect_url: Address = "redirectUrl";
        /// The public address of a client metadata document.
        client_metadata_url: PublicAddress = "clientMetadataUrl";
        /// The host of the callback, on this machine.
        callback_host: CallbackHost = "callbackHost", default "127.0.0.1";
        /// The port of the callback; 0 takes a free one.
        callback_port: Port = "callbackPort", default 0;
        /// The path of the callback.
        callback_path: CallbackPath = "callbackPath", default "/callback";
    }
}

/// `auth`: the word `oauth` or its settings.
#[derive(Clone, Debug)]
pub(crate) enum Auth {
    OAuth,
    Settings(Box<RawOAuth>),
}

impl Shape for Auth {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        if node.as_object().is_some() {
            return RawOAuth::decode(node, context)
                .map(|settings| Self::Settings(Box::new(settings)));
        }
        if !matches!(node.value, Value::String(_)) {
            context.wrong_type(node, "`\"oauth\"` or an object");
            return None;
        }
        crate::shape::choice(node, context, &["oauth"]).map(|_| Self::OAuth)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "anyOf": [{ "const": "oauth" }, RawOAuth::schema(definitions)] })
    }
}

/// `inheritEnv`: all, none, or some names.
#[derive(Clone, Debug)]
pub(crate) enum Inherit {
    All(bool),
    Names(Vec<NonEmpty>),
}

impl Shape for Inherit {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        match &node.value {
            Value::Bool(all) => Some(Self::All(*all)),
            Value::Array(_) => Vec::decode(node, context).map(Self::Names),
            _ => {
                context.wrong_type(node, "a boolean or an array of names");
                None
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "anyOf": [{ "type": "boolean" }, Vec::<NonEmpty>::schema(definitions)] })
    }
}

/// The path of a callback.
#[derive(Clone, Debug)]
pub(crate) struct CallbackPath(pub(crate) String);

impl Shape for CallbackPath {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let text = context.text(node)?;
        if !text.value.starts_with('/') && text.is_complete() {
            let message = "the path of a callback begins with `/`";
            context.error(Kind::Value, node.span, message);
            return None;
        }
        Some(Self(text.value))
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "pattern": "^/|\\$\\{[A-Z_][A-Z0-9_]*\\}" })
    }
}

/// An argument of a program.
#[derive(Clone, Debug)]
pub(crate) struct Argument(pub(crate) Text);

impl Shape for Argument {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let text = context.text(node)?;
        let refusal = if openclaw_secrets::contains_secret_uri(&text.value) {
            "secrets are not put into arguments, because every process of the machine can read them"
        } else if text.value.contains('\0') {
            "an argument must not contain a NUL character"
        } else {
            return Some(Self(text));
        };
        let problem = Problem::error(Kind::Value, &context.path, refusal)
            .at(node.span)
            .help("pass secrets in `env`");
        context.report.add(problem);
        None
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "not": { "pattern": "secret://" } })
    }
}

/// The entries of one place, their names checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Servers(pub(crate) Entries<RawServer>);

impl Shape for Servers {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let accept = |member: &Member, context: &mut Context<'_>| {
            ServerName::new(&member.key)
                .inspect_err(|error| {
                    let message = format!("`{}` {error}", printable(&member.key));
                    context.error(Kind::Value, member.key_span, message);
                })
                .is_ok()
        };
        Entries::decode_with(node, context, accept).map(Self)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let server = RawServer::schema(definitions);
        definitions.extend(
            "server",
            json!({ "allOf": [crate::server::address_schema()] }),
        );
        servers_schema(&server)
    }
}

/// Servers that stand for themselves, so that their definitions must be whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeServers(pub(crate) Servers);

impl Shape for WholeServers {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        Servers::decode(node, context).map(Self)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        Servers::schema(definitions);
        let whole = json!({ "allOf": [reference("server"), crate::server::whole_schema()] });
        servers_schema(&whole)
    }
}

fn servers_schema(server: &Json) -> Json {
    json!({
        "type": "object",
        "maxProperties": entries::MOST,
        "propertyNames": ServerName::schema(),
        "additionalProperties": server,
    })
}
