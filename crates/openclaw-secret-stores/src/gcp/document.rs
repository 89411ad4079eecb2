//! What stands in a file with credentials, and overwriting it when it is no longer needed.

use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroize as _;
use serde_json::Value as Json;
use url::Url;

use crate::error::SecretError;
use crate::http::is_near;
use crate::surroundings::Surroundings;

/// The names of what opens something.
const SECRETS: &[&str] = &["private_key", "refresh_token", "client_secret"];

/// A JSON document with credentials in it. Its texts are overwritten when it is dropped.
pub(super) struct Document(Json);

impl Document {
    /// Reads a document, and hides everything in it that opens something.
    pub(super) fn read(
        bytes: &[u8],
        surroundings: &Surroundings,
    ) -> Result<Self, serde_json::Error> {
        let document = Self(serde_json::from_slice(bytes)?);
        visit(&document.0, &mut |name, text| {
            if SECRETS.contains(&name) {
                let _ = surroundings.credential(text);
            }
        });
        Ok(document)
    }

    /// The whole, for reading. `shown` says where it is from.
    pub(super) fn whole<'d>(&'d self, shown: &'d str) -> Part<'d> {
        let json = &self.0;
        Part { json, shown }
    }

    /// The name of an address in it that others could listen at.
    pub(super) fn readable_address(&self) -> Option<String> {
        let mut found = None;
        visit(&self.0, &mut |name, text| {
            let is_address = name == "url" || name.ends_with("_url") || name.ends_with("_uri");
            if is_address
                && let Ok(url) = Url::parse(text)
                && url.scheme() != "https"
                && !is_near(&url)
            {
                found = Some(name.to_owned());
            }
        });
        found
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// An object in a document, or what stands in the place of one.
#[derive(Clone, Copy)]
pub(super) struct Part<'d> {
    json: &'d Json,
    /// Where the document is from.
    pub(super) shown: &'d str,
}

impl<'d> Part<'d> {
    /// An object in this one.
    pub(super) fn part(self, name: &str) -> Self {
        let json = &self.json[name];
        Self { json, ..self }
    }

    pub(super) fn get(self, name: &str) -> &'d Json {
        &self.json[name]
    }

    pub(super) fn has(self, name: &str) -> bool {
        !self.get(name).is_null()
    }

    /// A text that is there, and not empty.
    pub(super) fn text(self, name: &str) -> Option<&'d str> {
        self.get(name).as_str().filter(|text| !text.is_empty())
    }

    /// A text without which there is no token.
    pub(super) fn needed(self, name: &str) -> Result<&'d str, SecretError> {
        self.text(name)
            .ok_or_else(|| self.wrong(name, "is missing, or not a text"))
    }

    /// A text without which there is no token, and which nobody must see.
    pub(super) fn secret(self, name: &str) -> Result<Secret, SecretError> {
        self.needed(name).map(Secret::new)
    }

    /// An address without which there is no token.
    pub(super) fn address(self, name: &str) -> Result<String, SecretError> {
        let text = self.needed(name)?;
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
                Ok(text.to_owned())
            }
            Ok(_) | Err(_) => Err(self.wrong(name, "is not an address")),
        }
    }

    /// An address that is this one if nothing is said.
    pub(super) fn address_or(self, name: &str, usual: &str) -> Result<String, SecretError> {
        if self.has(name) {
            self.address(name)
        } else {
            Ok(usual.to_owned())
        }
    }

    /// Says what is wrong in the document.
    pub(super) fn wrong(self, name: &str, reason: &str) -> SecretError {
        SecretError::misconfigured(format!(
            "no access token can be made of the credentials in {}: `{name}` {reason}",
            self.shown
        ))
    }
}

/// Overwrites all texts.
pub(super) fn wipe(json: &mut Json) {
    match json {
        Json::String(text) => text.zeroize(),
        Json::Array(items) => items.iter_mut().for_each(wipe),
        Json::Object(fields) => fields.values_mut().for_each(wipe),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Goes through all texts that have a name.
fn visit(json: &Json, look: &mut impl FnMut(&str, &str)) {
    match json {
        Json::Object(fields) => {
            for (name, value) in fields {
                if let Json::String(text) = value {
                    look(name, text);
                } else {
                    visit(value, look);
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_that_others_could_listen_at_are_found_at_any_depth() {
        for fine in [
            json!({ "token_uri": "https://oauth2.googleapis.com/token" }),
            json!({ "credential_source": { "url": "http://169.254.169.254/token" } }),
            json!({ "token_url": "http://127.0.0.1:8080/token" }),
            json!({ "note": "http://example.com" }),
        ] {
            let found = Document(fine.clone()).readable_address();
            assert_eq!(found, None, "{fine}");
        }
        let bad = json!({ "a": [{ "credential_source": { "url": "http://example.com/t" } }] });
        assert_eq!(Document(bad).readable_address().unwrap(), "url");
        let bad = json!({ "token_uri": "http://oauth2.googleapis.com/token" });
        assert_eq!(Document(bad).readable_address().unwrap(), "token_uri");
    }

    #[test]
    fn what_is_wrong_is_named_without_what_it_is() {
        let document = Document(json!({ "token_uri": "hunter2", "client_id": 7, "empty": "" }));
        let part = document.whole("the file");
        let error = part.address("token_uri").unwrap_err().to_string();
        assert!(error.ends_with("the file: `token_uri` is not an address"));
        for name in ["client_id", "empty", "missing"] {
            let error = part.needed(name).unwrap_err().to_string();
            let says = format!("`{name}` is missing, or not a text");
            assert!(error.ends_with(&says), "{error}");
        }
        assert!(!part.part("client_id").part("deeper").has("anything"));
    }

    #[test]
    fn all_texts_are_overwritten() {
        let mut json = json!({ "a": ["hunter2", { "b": "hunter2" }], "c": "hunter2", "d": 7 });
        wipe(&mut json);
        assert_eq!(json, json!({ "a": ["", { "b": "" }], "c": "", "d": 7 }));
    }
}
