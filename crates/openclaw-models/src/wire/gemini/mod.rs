//! `google-generative-ai`: <https://ai.google.dev/api/generate-content>.

mod events;
mod request;

use url::Url;

pub(super) use self::events::Decoder;
pub(super) use self::request::Body;

/// The address of the service with the version that belongs to it, which people leave out.
pub(super) fn versioned(base: &Url) -> Url {
    let mut base = base.clone();
    if base.path() == "/" {
        base.set_path("/v1beta");
    }
    base
}
