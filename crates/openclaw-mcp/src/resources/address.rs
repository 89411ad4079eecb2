//! Addresses of resources, as models write them.

use openclaw_content::clean_name;
use openclaw_mcp_client::ResourceTemplate;

use crate::supervise::Catalog;

/// The address that is meant. Models are shown addresses as names in our own lines are, which some
/// of them do not survive: then what was shown stands for the one that it was made of.
pub(super) fn meant_address(catalog: &Catalog, written: &str) -> String {
    let written = written.trim();
    let mut listed = catalog.resources.iter().map(|it| it.uri.as_str());
    if listed.any(|uri| uri == written) {
        return written.to_owned();
    }
    let plain = plain(written);
    let is_meant = |uri: &str| uri == plain || is_shown_as(&clean_name(uri), written);
    let listed = catalog.resources.iter().map(|it| it.uri.as_str());
    let mut meant = listed.filter(|uri| is_meant(uri));
    match (meant.next(), meant.next()) {
        (Some(only), None) => only.to_owned(),
        (None, _) if catalog.templates.iter().any(|it| begins(it, &plain)) => plain,
        _ => written.to_owned(),
    }
}

/// Whether a name that was cleaned is what a model wrote, with what attributes do to it or without.
pub(super) fn is_shown_as(shown: &str, written: &str) -> bool {
    shown == written || shown == plain(written)
}

/// What was written, without what stands in attributes for other characters.
fn plain(written: &str) -> String {
    written.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Whether an address begins like those of a template that is shown with something in the place of a
/// character of it.
fn begins(template: &ResourceTemplate, address: &str) -> bool {
    let text = &template.uri_template;
    let fixed = text
        .split_once('{')
        .map_or(text.as_str(), |(fixed, _)| fixed);
    text.contains('&') && address.starts_with(fixed)
}

#[cfg(test)]
mod tests {
    use openclaw_mcp_client::Resource;

    use super::*;

    fn catalog(addresses: &[&str]) -> Catalog {
        let resource = |uri: &&str| Resource {
            uri: (*uri).to_owned(),
            name: (*uri).to_owned(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
        };
        Catalog {
            resources: addresses.iter().map(resource).collect(),
            ..Catalog::default()
        }
    }

    #[test]
    fn what_was_shown_stands_for_what_it_was_made_of() {
        let long = format!("a://{}", "x".repeat(500));
        let catalog = catalog(&["a://[1]", "a://?b&c", "a://'", "a://\"", "a://_", &long]);
        let meant = |written: &str| meant_address(&catalog, written);
        assert_eq!(meant("a://_1_"), "a://[1]");
        assert_eq!(meant(" a://?b&amp;c "), "a://?b&c");
        assert_eq!(meant(&clean_name(&long)), long);
        assert_eq!(
            meant("a://_"),
            "a://_",
            "one that is listed is meant itself"
        );
        assert_eq!(meant("b://_1_"), "b://_1_", "others are left as they are");
    }

    #[test]
    fn what_was_made_of_a_template_is_written_as_the_template_is() {
        let mut catalog = catalog(&[]);
        let written = "a://x?b=1&amp;c=2";
        assert_eq!(meant_address(&catalog, written), written);
        for (template, expected) in [
            ("b://x?b={b}&c={c}", written),
            ("a://x?b={b}", written),
            ("a://x?b={b}&c={c}", "a://x?b=1&c=2"),
        ] {
            catalog.templates = vec![ResourceTemplate {
                uri_template: template.to_owned(),
                name: "t".to_owned(),
                title: None,
                description: None,
                mime_type: None,
            }];
            assert_eq!(meant_address(&catalog, written), expected, "{template}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        let catalog = catalog(&["a://'", "a://\""]);
        assert_eq!(meant_address(&catalog, "a://_"), "a://_");
    }
}
