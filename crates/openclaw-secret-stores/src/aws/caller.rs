//! Who we are to AWS, for another cloud that believes it.

use std::sync::Arc;

use reqsign_aws_v4::Credential;
use tokio::time::Instant;

use super::credentials::Credentials;
use super::files::Files;
use crate::error::SecretError;
use crate::http::Http;
use crate::surroundings::Surroundings;

/// Who we are to AWS, and where.
pub(crate) struct Caller {
    pub(crate) credential: Credential,
    pub(crate) region: String,
}

/// Finds out who we are to AWS. Nothing is kept.
pub(crate) async fn caller(
    surroundings: &Surroundings,
    http: &Arc<Http>,
    until: Instant,
) -> Result<Caller, SecretError> {
    let files = Files::read(surroundings).await;
    let credentials = Credentials::new(surroundings.clone(), Arc::clone(http));
    let identity = credentials.get(&files, until).await?;
    let region = credentials.region(&files, &identity, until).await?;
    Ok(Caller {
        credential: identity.credential,
        region,
    })
}
