//! Getting a document, and what there is instead of one.

use serde_json::{Map, Value as Json};
use url::Url;

use crate::asking::{Asking, is_passing, shown};
use crate::error::{OAuthError, Remedy};

/// A document about a server.
pub(super) type Document = Map<String, Json>;

/// What there is instead of a document.
pub(super) enum Instead {
    /// Nothing.
    Absence,
    /// Something else: a page, a way elsewhere, too much.
    Other(OAuthError),
    /// What there is can't be known now.
    Unknown(OAuthError),
}

/// Gets a document.
pub(super) async fn document(asking: &Asking, url: &Url) -> Result<Document, Instead> {
    let answer = asking
        .get(url)
        .await
        .map_err(|error| match error.remedy() {
            Remedy::Wait => Instead::Unknown(error),
            Remedy::LogIn | Remedy::Register | Remedy::Change => Instead::Other(error),
        })?;
    let status = answer.status();
    if is_passing(status) {
        let (url, status) = (shown(url), status.as_u16());
        let reason = format!("{url} can't be had now: status {status}");
        return Err(Instead::Unknown(OAuthError::passing(reason)));
    }
    if status.is_client_error() {
        return Err(Instead::Absence);
    }
    if !status.is_success() {
        let (url, status) = (shown(url), status.as_u16());
        let reason = format!("{url} answers with status {status}");
        return Err(Instead::Other(OAuthError::lasting(reason)));
    }
    match serde_json::from_slice(answer.body()) {
        Ok(Json::Object(document)) => Ok(document),
        Ok(_) | Err(_) => {
            let reason = format!("{} is not a JSON object", shown(url));
            Err(Instead::Other(OAuthError::lasting(reason)))
        }
    }
}

/// A text that is there and not empty.
pub(super) fn text<'a>(document: &'a Document, name: &str) -> Option<&'a str> {
    let text = document.get(name)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// The texts of a list, if there is a list.
pub(super) fn texts(document: &Document, name: &str) -> Option<Vec<String>> {
    let all = document.get(name)?.as_array()?.iter();
    let all = all.filter_map(Json::as_str).map(str::to_owned);
    Some(all.collect())
}

/// Whether something is said to be so.
pub(super) fn is_true(document: &Document, name: &str) -> bool {
    document.get(name).and_then(Json::as_bool) == Some(true)
}

/// What was found instead of usable documents, in several places.
#[derive(Default)]
pub(super) struct Troubles {
    /// What there is can't be known now: trying again may help.
    unknown: Option<OAuthError>,
    /// A document that may not be used.
    pub(super) refused: Option<OAuthError>,
    /// Something that is no document.
    pub(super) other: Option<OAuthError>,
}

impl Troubles {
    /// Notes what is in a place; the first of a kind is what is told.
    pub(super) fn note(&mut self, instead: Instead) {
        match instead {
            Instead::Absence => {}
            Instead::Other(error) => {
                self.other.get_or_insert(error);
            }
            Instead::Unknown(error) => {
                self.unknown.get_or_insert(error);
            }
        }
    }

    /// Notes that a document may not be used.
    pub(super) fn refuse(&mut self, error: OAuthError) {
        self.refused.get_or_insert(error);
    }

    /// What nobody may go on after: a document that may not be used, or one that may be there.
    pub(super) fn serious(&mut self) -> Option<OAuthError> {
        self.refused.take().or_else(|| self.unknown.take())
    }
}
