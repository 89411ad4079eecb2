//! The control page: its files, as they are written in `page/`, in the program itself.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use ring::digest;

use crate::routes::nothing_there;
use crate::visit::Visit;

/// Where the files are, below the address of the gateway.
const BELOW: &str = "/page/";
/// How many bytes of a hash tell one version of a file from the others.
const TAG: usize = 16;

/// A file of the page.
struct Asset {
    /// Its path below `page/`.
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal)+) => {
        &[$(Asset { name: $name, bytes: include_bytes!(concat!("../page/", $name)) }),+]
    };
}

/// All files.
static ASSETS: &[Asset] = assets! {
    "connection.js"
    "foreign.js"
    "icon.svg"
    "index.html"
    "page.css"
    "parts/content.js"
    "parts/dialog.js"
    "parts/element.js"
    "parts/fields.js"
    "parts/form.js"
    "parts/list.js"
    "parts/long-text.js"
    "parts/markdown.js"
    "parts/notices.js"
    "parts/sparkline.js"
    "parts/tabs.js"
    "remembered.js"
    "shell.js"
    "start.js"
    "state.js"
    "views/activity.js"
    "views/chat.js"
    "views/configuration.js"
    "views/connecting.js"
    "views/importing.js"
    "views/login.js"
    "views/questions.js"
    "views/server.js"
    "views/servers.js"
    "views/signing-in.js"
    "views/tool.js"
    "views/tools.js"
    "views/turn.js"
    "words.js"
};

/// The page itself.
const INDEX: &str = "index.html";

/// Answers with the page, or with one of its files.
pub(crate) fn answer(visit: &Visit) -> Response {
    let path = visit.request.uri().path();
    let name = path.strip_prefix(BELOW).unwrap_or(INDEX);
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return nothing_there().into_response();
    };
    let tag = asset.tag();
    let known = visit.request.headers().get_all(header::IF_NONE_MATCH);
    let is_known = known.iter().any(|it| it.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(Body::from(Bytes::from_static(asset.bytes)))
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind()));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

impl Asset {
    /// What it is, for browsers, which run nothing that is called otherwise.
    fn kind(&self) -> &'static str {
        match self.name.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        }
    }

    /// Tells this version of it from others. Hashing it takes less time than sending it.
    fn tag(&self) -> String {
        let hash = digest::digest(&digest::SHA256, self.bytes);
        let bytes = hash.as_ref().first_chunk::<TAG>().copied();
        format!(
            "\"{:032x}\"",
            u128::from_be_bytes(bytes.unwrap_or_default())
        )
    }
}

#[cfg(test)]
mod tests;
