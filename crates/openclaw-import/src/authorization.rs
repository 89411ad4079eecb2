//! The settings of a login.

use serde_json::{Map, Value};

use crate::draft::Draft;
use crate::fields::Fields;
use crate::printable::printable;

/// Reads what a client says about the login of a server.
///
/// Tokens that it has obtained are its own: openclaw logs in anew.
pub(crate) fn login(draft: &mut Draft<'_>, fields: &mut Fields) {
    let mut login = Map::new();
    for field in ["oauth", "auth"] {
        match fields.take(field) {
            None => {}
            Some(Value::Object(settings)) => object(draft, &mut login, (field, &settings)),
            Some(other) => draft.note_type(field, "an object", &other),
        }
    }
    if let Some(value) = fields.take("scopes") {
        scopes(draft, &mut login, ("scopes", &value));
    }
    if fields.take("oauth_resource").is_some() {
        draft.note("`oauth_resource` is left out: openclaw names the server's own address");
    }
    let headers = draft.entry.get("headers").and_then(Value::as_object);
    let is_proven = headers.is_some_and(|headers| {
        let mut names = headers.keys();
        names.any(|name| name.eq_ignore_ascii_case("authorization"))
    });
    if is_proven && !login.is_empty() {
        draft.note("the settings of a login are left out: the `Authorization` header replaces it");
        return;
    }
    if !login.contains_key("clientId") && login.remove("clientSecret").is_some() {
        draft.note("the secret of a client is left out: it has no effect without `clientId`");
    }
    draft.set_filled("oauth", login);
}

fn object(
    draft: &mut Draft<'_>,
    login: &mut Map<String, Value>,
    (field, settings): (&str, &Map<String, Value>),
) {
    for (key, value) in settings {
        let label = format!("{field}.{}", printable(key));
        match key.as_str() {
            "clientId" | "client_id" | "CLIENT_ID" => {
                if let Some(text) = draft.optional_text(value, &label) {
                    login.insert("clientId".to_owned(), text.render().into());
                }
            }
            "clientSecret" | "client_secret" | "CLIENT_SECRET" => {
                if let Some(secret) = draft.credential(value, &label) {
                    login.insert("clientSecret".to_owned(), secret);
                }
            }
            "scopes" | "scope" => scopes(draft, login, (&label, value)),
            "callbackPort" | "callback_port" => match value.as_u64() {
                Some(port @ 1..=65_535) => {
                    login.insert("callbackPort".to_owned(), port.into());
                    // The address that the client was registered with says so.
                    login.insert("callbackHost".to_owned(), "localhost".into());
                }
                _ => draft.note_type(&label, "a port", value),
            },
            "authServerMetadataUrl" => draft.note(format!(
                "`{label}` is left out: set `oauth.authorizationServerUrl` to the authorization \
                 server itself"
            )),
            _ => draft.note(format!("`{label}` is left out: openclaw has no equivalent")),
        }
    }
}

/// A list, or one text with blanks between.
fn scopes(draft: &mut Draft<'_>, login: &mut Map<String, Value>, (label, value): (&str, &Value)) {
    let words: Vec<Value> = match value {
        Value::String(text) => text.split_whitespace().map(Value::from).collect(),
        Value::Array(elements) => elements.clone(),
        other => return draft.note_type(label, "scopes", other),
    };
    let scopes: Vec<Value> = words
        .iter()
        .filter_map(|word| draft.optional_text(word, label))
        .map(|scope| scope.render().into())
        .collect();
    if !scopes.is_empty() {
        login.insert("scopes".to_owned(), scopes.into());
    }
}
