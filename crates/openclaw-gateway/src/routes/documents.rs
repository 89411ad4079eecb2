//! What is the same for everybody: the description of the interface, and the document about us.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use openclaw_engine::ClientMetadataQuery;
use url::Url;

use super::json;
use crate::problem::Problem;
use crate::visit::Visit;

/// The description of the interface.
pub(super) fn openapi() -> impl IntoResponse {
    text("application/json", include_str!("../openapi.json"))
}

/// The document that describes us to authorization servers, which fetch it from its public address.
pub(super) async fn client_metadata(visit: Visit) -> Result<Response, Problem> {
    let gateway = &visit.gateway;
    let public = gateway.public_url.as_ref();
    let Some(url) = public.and_then(document_url) else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "no-public-url",
            "this gateway has no public address",
        )
        .hint("set `gateway.publicUrl` to its address that begins with `https://`"));
    };
    let query = ClientMetadataQuery {
        agent: None,
        server: None,
        url: Some(url),
    };
    let metadata = gateway.engine.client_metadata(query).await?;
    Ok(json(StatusCode::OK, &metadata.document))
}

/// Where the document is: authorization servers take it from addresses with `https` alone.
fn document_url(public: &Url) -> Option<String> {
    if public.scheme() != "https" {
        return None;
    }
    let mut url = public.clone();
    url.set_query(None);
    url.set_fragment(None);
    let path = format!(
        "{}/oauth/client-metadata.json",
        public.path().trim_end_matches('/')
    );
    url.set_path(&path);
    Some(url.into())
}

fn text(kind: &'static str, body: &'static str) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(kind))],
        body,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_lies_below_the_public_address() {
        let at = |public: &str| document_url(&public.parse().unwrap());
        assert_eq!(
            at("https://claw.example").as_deref(),
            Some("https://claw.example/oauth/client-metadata.json")
        );
        assert_eq!(
            at("https://claw.example:8443/base/?x#y").as_deref(),
            Some("https://claw.example:8443/base/oauth/client-metadata.json")
        );
        assert_eq!(at("http://claw.example"), None);
    }
}
