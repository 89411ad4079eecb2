//! How long a token is good for.

use crate::kept::KeptGrant;

/// How long before its end a token is renewed, in milliseconds.
const MARGIN: u64 = 60_000;
/// What share of its life that is at most.
const SHARE: u64 = 4;

impl KeptGrant {
    /// When the access token expires, in milliseconds since 1970, where that is known.
    pub fn expires_at(&self) -> Option<u64> {
        let lifetime = self.lifetime?.saturating_mul(1000);
        Some(self.received_at.saturating_add(lifetime))
    }

    /// Whether the access token is of no use any longer.
    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires_at().is_some_and(|at| now >= at)
    }

    /// When the access token is to be renewed. One that does not say when it ends is good until a
    /// server refuses it.
    pub(crate) fn renewal_at(&self) -> Option<u64> {
        let lifetime = self.lifetime?.saturating_mul(1000);
        let margin = MARGIN.min(lifetime / SHARE);
        self.expires_at().map(|at| at.saturating_sub(margin))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::grant;

    #[test]
    fn a_token_is_renewed_a_minute_before_its_end_and_a_short_one_at_three_quarters() {
        for (lifetime, renewal, end) in [
            (3600, 3_540_000, 3_600_000),
            (240, 180_000, 240_000),
            (239, 179_250, 239_000),
            (60, 45_000, 60_000),
            (2, 1_500, 2_000),
        ] {
            let mut grant = grant();
            grant.received_at = 1_000_000;
            grant.lifetime = Some(lifetime);
            let at = |after: u64| 1_000_000 + after;
            assert_eq!(grant.renewal_at(), Some(at(renewal)), "{lifetime}");
            assert!(!grant.is_expired(at(end - 1)), "{lifetime}");
            assert!(grant.is_expired(at(end)), "{lifetime}");
            assert_eq!(grant.expires_at(), Some(at(end)));
            // The clock was set back.
            assert!(!grant.is_expired(0), "{lifetime}");
        }
    }

    #[test]
    fn a_token_without_an_end_is_good_until_somebody_refuses_it() {
        let mut grant = grant();
        grant.lifetime = None;
        assert_eq!(grant.renewal_at(), None);
        assert!(!grant.is_expired(u64::MAX));
        grant.lifetime = Some(u64::MAX);
        assert!(grant.renewal_at().unwrap() > 1_000_000_000_000_000);
    }
}
