//! The client, and the certificates that are read for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::address::Address;
use super::trust;
use crate::error::SecretError;
use crate::http::{Http, Trust, store_client};
use crate::surroundings::Surroundings;

/// The client, once it is needed: certificates are read for it.
#[derive(Default)]
pub(super) struct Client(Mutex<Option<Arc<Http>>>);

/// A client, and whether it is from an earlier time.
#[derive(Clone)]
pub(super) struct Lent {
    pub(super) http: Arc<Http>,
    was_kept: bool,
}

impl Client {
    pub(super) async fn get(
        &self,
        surroundings: &Surroundings,
        address: &Address,
    ) -> Result<Lent, SecretError> {
        let known = self.lock().clone();
        if let Some(http) = known {
            return Ok(Lent {
                http,
                was_kept: true,
            });
        }
        let http = made(surroundings, address).await?;
        // Who was here at the same time has read the same certificates.
        let http = Arc::clone(self.lock().get_or_insert(http));
        Ok(Lent {
            http,
            was_kept: false,
        })
    }

    /// Another client than one that was not trusted, if there may be one: somebody may have put other
    /// certificates there since it was made.
    pub(super) async fn instead(
        &self,
        used: &Lent,
        surroundings: &Surroundings,
        address: &Address,
    ) -> Result<Option<Lent>, SecretError> {
        let is_another = |http: &Arc<Http>| !Arc::ptr_eq(http, &used.http);
        let known = self.lock().clone().filter(is_another);
        let http = match known {
            Some(http) => http,
            None if used.was_kept => {
                let http = made(surroundings, address).await?;
                *self.lock() = Some(Arc::clone(&http));
                http
            }
            None => return Ok(None),
        };
        Ok(Some(Lent {
            http,
            was_kept: false,
        }))
    }

    /// Has certificates read anew the next time: these are of no use.
    pub(super) fn forget(&self, used: &Lent) {
        self.lock().take_if(|http| Arc::ptr_eq(http, &used.http));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Http>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn made(surroundings: &Surroundings, address: &Address) -> Result<Arc<Http>, SecretError> {
    Ok(Arc::new(if address.is_plain() {
        // Nobody proves anything without TLS.
        store_client(Trust::default())
    } else {
        store_client(trust::read(surroundings).await?)
    }))
}
