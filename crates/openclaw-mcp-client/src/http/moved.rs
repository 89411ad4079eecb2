//! Where an address has moved to, for as long as that may be relied on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;
use url::Url;

/// How long a redirect is relied on that calls itself temporary. Servers that only want a slash at
/// the end say so with one, and would cost every call a second round trip.
const AWHILE: Duration = Duration::from_mins(5);

/// How long a redirect may be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lasting {
    Not,
    Awhile,
    Forever,
}

/// Where an address has moved to.
pub(super) struct Moved<T>(Mutex<Option<Place<T>>>);

struct Place<T> {
    address: Arc<T>,
    until: Option<Instant>,
}

impl Lasting {
    /// What a redirect says. One to another origin is never relied on, TLS added included.
    pub(super) fn of(status: StatusCode, from: &Url, to: &Url) -> Self {
        match status {
            _ if from.origin() != to.origin() => Self::Not,
            StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT => Self::Forever,
            StatusCode::TEMPORARY_REDIRECT => Self::Awhile,
            _ => Self::Not,
        }
    }
}

impl<T> Moved<T> {
    pub(super) fn get(&self) -> Option<Arc<T>> {
        let mut place = self.lock();
        if let Some(until) = place.as_ref()?.until
            && until <= Instant::now()
        {
            *place = None;
        }
        place.as_ref().map(|place| Arc::clone(&place.address))
    }

    pub(super) fn set(&self, address: Arc<T>, lasting: Lasting) {
        let until = match lasting {
            Lasting::Not => return,
            Lasting::Awhile => Some(Instant::now() + AWHILE),
            Lasting::Forever => None,
        };
        *self.lock() = Some(Place { address, until });
    }

    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Place<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Moved<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_temporary_is_forgotten() {
        let moved = Moved::default();
        moved.set(Arc::new(1), Lasting::Not);
        assert_eq!(moved.get(), None);
        moved.set(Arc::new(2), Lasting::Awhile);
        tokio::time::advance(AWHILE.saturating_sub(Duration::from_secs(1))).await;
        assert_eq!(moved.get().as_deref(), Some(&2));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(moved.get(), None);
        moved.set(Arc::new(3), Lasting::Forever);
        tokio::time::advance(AWHILE * 100).await;
        assert_eq!(moved.get().as_deref(), Some(&3));
        moved.forget();
        assert_eq!(moved.get(), None);
    }

    #[test]
    fn only_the_same_origin_is_relied_on() {
        let of = |status: u16, to: &str| {
            let from = Url::parse("http://a.example/mcp").unwrap();
            let status = StatusCode::from_u16(status).unwrap();
            Lasting::of(status, &from, &Url::parse(to).unwrap())
        };
        let same = "http://a.example/mcp/";
        assert_eq!(
            [301, 308, 307, 302].map(|status| of(status, same)),
            [
                Lasting::Forever,
                Lasting::Forever,
                Lasting::Awhile,
                Lasting::Not
            ]
        );
        assert_eq!(of(308, "https://a.example/mcp"), Lasting::Not);
        assert_eq!(Lasting::Forever.min(Lasting::Awhile), Lasting::Awhile);
    }
}
