//! How much may be under way at once. Whatever is beyond is refused: a client that knows can wait.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::order::Order;

/// How many orders may be under way.
const MOST_ORDERS: usize = 256;
/// How many attachments they may have. Each is an open file, and systems allow a thousand or fewer.
const MOST_ATTACHMENTS: usize = 300;

/// What may still be taken on.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    orders: Arc<Semaphore>,
    attachments: Arc<Semaphore>,
}

/// The place of an order under way, which is free when this is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    _order: OwnedSemaphorePermit,
    _attachments: OwnedSemaphorePermit,
}

/// There is no place left.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Crowded {
    #[error("{MOST_ORDERS} orders are under way, which is the most; try again when one is done")]
    Orders,
    #[error("orders under way have too many attachments; try again when one is done")]
    Attachments,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            orders: Arc::new(Semaphore::new(MOST_ORDERS)),
            attachments: Arc::new(Semaphore::new(MOST_ATTACHMENTS)),
        }
    }
}

impl Admission {
    /// Takes an order on, if there is a place for it.
    pub(crate) fn admit(&self, order: &Order) -> Result<Admitted, Crowded> {
        let orders = Arc::clone(&self.orders);
        let attachments = Arc::clone(&self.attachments);
        let count = u32::try_from(order.attachments.len()).unwrap_or(u32::MAX);
        Ok(Admitted {
            _order: orders.try_acquire_owned().map_err(|_| Crowded::Orders)?,
            _attachments: attachments
                .try_acquire_many_owned(count)
                .map_err(|_| Crowded::Attachments)?,
        })
    }
}
