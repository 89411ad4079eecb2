//! Addresses of services beside the servers themselves.

use serde_json::{Value as Json, json};
use url::Url;

use crate::report::{Kind, Problem};
use crate::server::{Reach, address_pattern, parse_address};
use crate::shape::{Context, Definitions, Shape};
use crate::tree::Node;

/// Any address.
#[derive(Clone, Debug)]
pub(crate) struct Address(pub(crate) Option<Url>);

/// An address that is encrypted, or on this machine.
#[derive(Clone, Debug)]
pub(crate) struct SecureAddress(pub(crate) Option<Url>);

/// An address that is encrypted, or on this machine, and that has no key of its own: there is another
/// place for keys.
#[derive(Clone, Debug)]
pub(crate) struct ServiceAddress(pub(crate) Option<Url>);

/// An address that is encrypted, so that others can trust what is there.
#[derive(Clone, Debug)]
pub(crate) struct PublicAddress(pub(crate) Option<Url>);

/// Reads an address, which is nothing where a variable is missing: that has been reported then.
fn decode<T>(
    node: &Node,
    context: &mut Context<'_>,
    (accepted, expectation): (&[Reach], &str),
    make: impl FnOnce(Option<Url>) -> T,
) -> Option<T> {
    let text = context.text(node)?;
    if !text.is_complete() {
        return Some(make(None));
    }
    match parse_address(&text.value) {
        Ok((url, reach)) if accepted.contains(&reach) => Some(make(Some(url))),
        Ok(_) | Err(_) => {
            context.error(
                Kind::Value,
                node.span,
                format!("this must be {expectation}"),
            );
            None
        }
    }
}

impl Shape for Address {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let all = [
            Reach::Encrypted,
            Reach::Loopback,
            Reach::Disguised,
            Reach::Readable,
        ];
        decode(
            node,
            context,
            (&all, "an `https://` or `http://` address"),
            Self,
        )
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "anyOf": address_pattern(&[Reach::Readable]) })
    }
}

impl Shape for SecureAddress {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let accepted = [Reach::Encrypted, Reach::Loopback];
        let expectation = "an `https://` address, or `http://` on this machine";
        decode(node, context, (&accepted, expectation), Self)
    }

    fn schema(_: &mut Definitions) -> Json {
        let accepted = [Reach::Encrypted, Reach::Loopback];
        json!({ "type": "string", "anyOf": address_pattern(&accepted) })
    }
}

impl Shape for ServiceAddress {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let SecureAddress(address) = SecureAddress::decode(node, context)?;
        let has_user = |url: &Url| !url.username().is_empty() || url.password().is_some();
        if address.as_ref().is_some_and(has_user) {
            let message = "this address must not have a user or a password in it";
            let problem = Problem::error(Kind::Value, &context.path, message);
            let help = "put the key into `apiKey`, where a reference can stand";
            context.report.add(problem.at(node.span).help(help));
            return None;
        }
        Some(Self(address))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let mut schema = SecureAddress::schema(definitions);
        schema["not"] = json!({ "pattern": "^[^/?#]*//[^/?#]*@" });
        schema
    }
}

impl Shape for PublicAddress {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        decode(
            node,
            context,
            (&[Reach::Encrypted], "an `https://` address"),
            Self,
        )
    }

    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string", "anyOf": address_pattern(&[Reach::Encrypted]) })
    }
}
