//! The bytes of the attachments of a line, for whoever acts on its messages.

use std::sync::{Arc, Mutex, PoisonError};

use super::Spooled;

/// The bytes of all attachments of a line, to be taken one by one. A batch of messages shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Luggage(Arc<Mutex<Vec<Option<Spooled>>>>);

impl Luggage {
    pub(crate) fn new(spooled: Vec<Spooled>) -> Self {
        let pieces = spooled.into_iter().map(Some).collect();
        Self(Arc::new(Mutex::new(pieces)))
    }

    /// Takes the bytes that have this place.
    pub(crate) fn take(&self, place: usize) -> Option<Spooled> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.get_mut(place)?.take()
    }
}
