//! What is wrong with the session bus or the Secret Service, in words.

use std::io::ErrorKind;

use openclaw_content::shown_line;
use secret_service::Error;
use zbus::DBusError as _;

use crate::error::SecretError;

/// How a keyring is unlocked.
pub(crate) const UNLOCKING: &str = "unlock it in the window that asks for its password; without a desktop, run \
     `gnome-keyring-daemon --replace --unlock` with the password on its standard input";
/// How a machine gets a keyring.
const GETTING_ONE: &str = "install and start one, such as GNOME Keyring, KDE Wallet or KeePassXC; without a desktop, run \
     `dbus-run-session -- sh -c 'gnome-keyring-daemon --unlock && exec openclaw …'` with the password \
     of the keyring on its standard input";
/// How much of what somebody else says is shown.
const SHOWN: usize = 200;

/// There is no sign of a session bus.
pub(super) fn no_bus() -> SecretError {
    SecretError::unavailable(
        "there is no session bus to reach a keyring on (DBUS_SESSION_BUS_ADDRESS is not set)",
    )
    .hint(GETTING_ONE)
    .absence()
}

/// The session bus that there should be can't be used.
pub(super) fn unusable_bus(error: zbus::Error) -> SecretError {
    match error {
        zbus::Error::Address(reason) => {
            let reason = shown_line(&reason, SHOWN);
            let reason = format!("DBUS_SESSION_BUS_ADDRESS is not the address of a bus: {reason}");
            SecretError::misconfigured(reason).hint(GETTING_ONE)
        }
        zbus::Error::InputOutput(error) | zbus::Error::Connection(error, _) => {
            let reason = format!("the session bus can't be reached: {error}");
            let reached = SecretError::unavailable(reason).hint(GETTING_ONE);
            // Nothing is there, or nothing listens any more.
            match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => reached.absence(),
                _ => reached,
            }
        }
        error => {
            let reason = shown_line(&error.to_string(), SHOWN);
            SecretError::unavailable(format!("the session bus can't be used: {reason}"))
                .hint(GETTING_ONE)
        }
    }
}

/// There is a bus, and the Secret Service can't be had on it.
pub(super) fn no_service(error: Error) -> SecretError {
    match word(&error).as_deref() {
        Some("ServiceUnknown" | "NameHasNoOwner") => {
            SecretError::unavailable("no Secret Service runs on the session bus")
                .hint(GETTING_ONE)
                .absence()
        }
        Some(word) if word.starts_with("Spawn.") => SecretError::unavailable(format!(
            "the Secret Service of the session bus does not start ({word})"
        ))
        .hint(GETTING_ONE),
        _ => told(error),
    }
}

/// The Secret Service does not do what it was asked to.
#[expect(clippy::needless_pass_by_value, reason = "it is for `map_err`")]
pub(super) fn told(error: Error) -> SecretError {
    let word = word(&error);
    match &error {
        Error::Prompt => {
            SecretError::refused("the keyring is locked, and its password was not given")
                .hint(UNLOCKING)
        }
        Error::Locked => SecretError::refused("the keyring is locked").hint(UNLOCKING),
        Error::PromptDisconnected | Error::Zbus(zbus::Error::InputOutput(_)) => gone(),
        _ => match word.as_deref() {
            Some("IsLocked") => SecretError::refused("the keyring is locked").hint(UNLOCKING),
            Some("NoReply" | "ServiceUnknown" | "NameHasNoOwner" | "Disconnected") => gone(),
            Some(word) => answers(word),
            None => answers(&shown_line(&error.to_string(), SHOWN)),
        },
    }
}

fn answers(reason: &str) -> SecretError {
    let reason = format!("the Secret Service answers with an error: {reason}");
    SecretError::unavailable(reason)
}

/// More than one entry has the name.
pub(super) fn ambiguous(service: &str, account: &str, count: usize) -> SecretError {
    let reason = format!(
        "the keyring has {count} entries for the service {service:?} and the account {account:?}"
    );
    SecretError::misconfigured(reason).hint(
        "keep one of them: a program such as Seahorse shows them, and `secret-tool clear` deletes \
         all at once",
    )
}

/// The Secret Service was there and is not any more.
pub(super) fn gone() -> SecretError {
    SecretError::unavailable("the Secret Service went away before it answered")
        .hint("try again, and start the keyring anew if it does not come back")
}

/// The last part of the name of an error that came over the bus, a word of the protocol.
fn word(error: &Error) -> Option<String> {
    let name = match error {
        Error::Zbus(zbus::Error::MethodError(name, _, _)) => name.to_string(),
        Error::Zbus(zbus::Error::FDO(error)) => error.name().to_string(),
        Error::ZbusFdo(error) => error.name().to_string(),
        _ => return None,
    };
    let prefixes = [
        "org.freedesktop.DBus.Error.",
        "org.freedesktop.Secret.Error.",
    ];
    let word = prefixes
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))?;
    Some(shown_line(word, SHOWN))
}
