//! Giving tokens back (RFC 7009).

use openclaw_secrets::Secret;
use url::Url;

use crate::asking::{Asking, Form, Refusal, shown};
use crate::authentication::Proof;
use crate::error::OAuthError;
use crate::kept::KeptGrant;

/// What became of tokens that were given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Revocation {
    /// They are worth nothing any more.
    Revoked,
    /// The authorization server does not take them back: they expire by themselves.
    NotOffered,
    /// They may still be worth something. Whoever logs out is told so, and is logged out all the
    /// same.
    NotRevoked(OAuthError),
}

/// Gives tokens back: first the one that others are made of.
pub(crate) async fn revoke(asking: &Asking, grant: &KeptGrant, proof: Proof<'_>) -> Revocation {
    let Some(endpoint) = &grant.revocation_endpoint else {
        return Revocation::NotOffered;
    };
    let refresh = grant.refresh_token.as_ref();
    let tokens = refresh
        .map(|token| (token, "refresh_token"))
        .into_iter()
        .chain([(&grant.access_token, "access_token")]);
    let mut failed = None;
    for (token, kind) in tokens {
        if let Err(error) = revoke_one(asking, endpoint, proof, token, kind).await {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Revocation::Revoked, Revocation::NotRevoked)
}

async fn revoke_one(
    asking: &Asking,
    endpoint: &Url,
    proof: Proof<'_>,
    token: &Secret,
    kind: &'static str,
) -> Result<(), OAuthError> {
    let mut form = Form::default();
    form.hidden("token", token).plain("token_type_hint", kind);
    proof.add_to(&mut form)?;
    let answer = asking.post_form(endpoint, &form).await?;
    // RFC 7009 §2.2: what the body says does not matter, and a token that is not known is no longer
    // worth anything.
    if answer.status().is_success() {
        return Ok(());
    }
    let refusal = Refusal::read(&answer, &form);
    // RFC 7009 §2.2.1: tokens of this kind can't be given back, and that is no fault of anybody.
    if refusal.code.as_deref() == Some("unsupported_token_type") {
        return Ok(());
    }
    let place = shown(endpoint);
    let reason = format!("not revoked: {place} answers {}", refusal.words());
    Err(if refusal.is_passing() {
        OAuthError::passing(reason)
    } else {
        OAuthError::lasting(reason)
    })
}

#[cfg(test)]
mod tests;
