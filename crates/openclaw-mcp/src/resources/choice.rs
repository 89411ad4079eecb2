//! Which resources stand beside a message.

use std::collections::BTreeMap;

use crate::policy::Pattern;
use crate::servers::{AgentPlan, PlannedServer};
use crate::supervise::Catalog;

/// A pattern over addresses, or over servers and addresses.
struct ResourcePattern<'a> {
    text: &'a str,
    pattern: Pattern,
}

impl<'a> ResourcePattern<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.trim();
        Self {
            text,
            pattern: Pattern::exact(text),
        }
    }

    fn matches(&self, server: &str, uri: &str) -> bool {
        self.pattern.matches_exactly(uri) || {
            // Only where it can be: most patterns are written without the server.
            self.text.contains('/') && self.pattern.matches_exactly(&format!("{server}/{uri}"))
        }
    }

    /// The address itself, where it is one of a server of this name and not a pattern.
    fn address(&self, server: &str) -> Option<&'a str> {
        let is_pattern = self.text.contains('*') || self.text.is_empty();
        let own = || self.text.strip_prefix(server)?.strip_prefix('/');
        (!is_pattern).then(|| own().unwrap_or(self.text))
    }
}

fn patterns(texts: &[String]) -> impl Iterator<Item = ResourcePattern<'_>> {
    texts.iter().map(|text| ResourcePattern::new(text))
}

/// The patterns of a server itself.
fn of_server(server: &PlannedServer) -> &[String] {
    let server = server.server();
    server.map_or(&[], |server| server.resources.inject.as_slice())
}

/// Whether a resource is meant by the patterns of its server or of an agent.
pub(crate) fn is_chosen(agent: &AgentPlan, server: &PlannedServer, uri: &str) -> bool {
    let name = server.name();
    patterns(of_server(server)).any(|it| it.matches(name, uri) || it.address(name) == Some(uri))
        || patterns(&agent.agent.resources.inject).any(|it| it.matches(name, uri))
}

/// Whether anything of a server may be meant.
pub(super) fn chooses_of(agent: &AgentPlan, server: &PlannedServer) -> bool {
    !agent.agent.resources.inject.is_empty() || !of_server(server).is_empty()
}

/// The addresses of a server that are meant, in their order, each with the size that the server says
/// it has.
pub(super) fn chosen(
    agent: &AgentPlan,
    server: &PlannedServer,
    catalog: &Catalog,
) -> BTreeMap<String, Option<u64>> {
    let name = server.name();
    let own: Vec<_> = patterns(of_server(server)).collect();
    let of_agent: Vec<_> = patterns(&agent.agent.resources.inject).collect();
    let listed = catalog.resources.iter();
    let mut chosen: BTreeMap<String, Option<u64>> = listed
        .filter(|it| {
            let mut all = own.iter().chain(&of_agent);
            all.any(|pattern| pattern.matches(name, &it.uri))
        })
        .map(|it| (it.uri.clone(), it.size))
        .collect();
    for address in own.iter().filter_map(|it| it.address(name)) {
        chosen.entry(address.to_owned()).or_default();
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, server: &str, uri: &str) -> bool {
        ResourcePattern::new(pattern).matches(server, uri)
    }

    #[test]
    fn a_pattern_means_an_address_with_or_without_its_server() {
        assert!(matches("file:///a/*", "files", "file:///a/b"));
        assert!(matches("files/file:///a/*", "files", "file:///a/b"));
        assert!(matches("*", "files", "file:///a/b"));
        assert!(matches("files/*", "files", "file:///a/b"));
        assert!(!matches("files/*", "other", "file:///a/b"));
        assert!(
            !matches("file:///A/*", "files", "file:///a/b"),
            "case counts"
        );
        assert!(!matches("", "files", "file:///a/b"));
    }

    #[test]
    fn only_what_has_no_star_is_an_address() {
        let address = |text| ResourcePattern::new(text).address("files");
        assert_eq!(address("files/a://b"), Some("a://b"));
        assert_eq!(address("a://b"), Some("a://b"));
        assert_eq!(address("filesystem://b"), Some("filesystem://b"));
        assert_eq!(address("a://*"), None);
        assert_eq!(address(" "), None);
    }

    proptest! {
        #[test]
        fn every_address_means_itself(server in "[a-z]{1,5}", uri in "[a-z]{1,3}://[a-z/.?&]{0,9}") {
            prop_assert!(matches(&uri, &server, &uri));
            let whole = format!("{server}/{uri}");
            prop_assert!(matches(&whole, &server, &uri));
            prop_assert_eq!(ResourcePattern::new(&whole).address(&server), Some(uri.as_str()));
        }
    }
}
