//! What both sides say before anything else. Programs of all versions understand it, so it is only ever
//! added to.

use serde::{Deserialize, Serialize};

/// The version of what is said over a link. Two programs that differ in it can't talk.
pub const PROTOCOL: u32 = 3;

/// The longest message that is read of a peer who has not said who he is.
pub(crate) const LONGEST_GREETING: usize = 64 << 10;

/// What a gateway says about itself before anything is asked. Only ever added to: programs of all
/// versions read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Greeting {
    /// The version of what is said over the link.
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// The number of its process.
    pub pid: u32,
    /// The configuration file that it reads.
    pub config: String,
    /// Where it listens for HTTP, as an address that can be opened: `http://127.0.0.1:18789`.
    pub address: String,
}

/// What stands before everything else that is said first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Role {
    /// Whoever asks.
    Command,
    /// Whoever has the engine.
    Gateway,
}

#[derive(Serialize, Deserialize)]
struct SaidByGateway<T> {
    openclaw: Role,
    #[serde(flatten)]
    greeting: T,
}

#[derive(Serialize, Deserialize)]
struct SaidByCommand<T> {
    openclaw: Role,
    protocol: u32,
    version: T,
}

/// What a command says first.
pub(crate) fn command_says(version: &str) -> impl Serialize {
    SaidByCommand {
        openclaw: Role::Command,
        protocol: PROTOCOL,
        version,
    }
}

/// What a gateway says first.
pub(crate) fn gateway_says(greeting: &Greeting) -> impl Serialize {
    SaidByGateway {
        openclaw: Role::Gateway,
        greeting,
    }
}

/// Reads what a command says first: the version of the protocol that it speaks.
pub(crate) fn read_command(message: &[u8]) -> Option<u32> {
    let said: SaidByCommand<String> = serde_json::from_slice(message).ok()?;
    (said.openclaw == Role::Command).then_some(said.protocol)
}

/// Reads what a gateway says first.
pub(crate) fn read_gateway(message: &[u8]) -> Option<Greeting> {
    let said: SaidByGateway<Greeting> = serde_json::from_slice(message).ok()?;
    (said.openclaw == Role::Gateway).then_some(said.greeting)
}

#[cfg(test)]
mod tests {
    use super::*;

    // These texts are what programs that are out there send. Only the number
    // of the protocol ever changes in them.
    const COMMAND: &str = r#"{"openclaw":"command","protocol":3,"version":"0.1.0"}"#;
    const GATEWAY: &str = r#"{"openclaw":"gateway","protocol":3,"version":"0.1.0","pid":42,"config":"/home/me/.openclaw/openclaw.json","address":"http://127.0.0.1:18789"}"#;

    fn greeting() -> Greeting {
        Greeting {
            protocol: 3,
            version: "0.1.0".to_owned(),
            pid: 42,
            config: "/home/me/.openclaw/openclaw.json".to_owned(),
            address: "http://127.0.0.1:18789".to_owned(),
        }
    }

    #[test]
    fn what_is_said_first_never_changes() {
        let said = serde_json::to_string(&command_says("0.1.0")).unwrap();
        assert_eq!(said, COMMAND);
        let said = serde_json::to_string(&gateway_says(&greeting())).unwrap();
        assert_eq!(said, GATEWAY);
        assert_eq!(read_command(COMMAND.as_bytes()), Some(3));
        assert_eq!(read_gateway(GATEWAY.as_bytes()), Some(greeting()));
    }

    #[test]
    fn what_later_versions_add_is_passed_over() {
        let later = COMMAND.replace('}', r#","locale":{"a":[1]}}"#);
        assert_eq!(read_command(later.as_bytes()), Some(3));
        let later = GATEWAY.replace('}', r#","since":"today"}"#);
        assert_eq!(read_gateway(later.as_bytes()), Some(greeting()));
    }

    #[test]
    fn neither_side_is_taken_for_the_other() {
        assert_eq!(read_command(GATEWAY.as_bytes()), None);
        assert_eq!(read_gateway(COMMAND.as_bytes()), None);
        assert_eq!(read_command(b"GET / HTTP/1.1"), None);
        assert_eq!(read_gateway(b"\xff\xfe"), None);
    }
}
