//! How long sessions are kept.

use crate::shape::{Whole, object};

object! {
    /// Sessions: what was said with agents.
    open RawSession as "session" {
        /// How long they are kept.
        retention: RawRetention = "retention";
    }
}

object! {
    /// How long sessions are kept. The oldest go first when one of these is exceeded; those in which
    /// something is being said stay.
    open RawRetention as "sessionRetention" {
        /// How many days after something was last said in them; 0 means for ever.
        days: Whole<0, 36_500> = "days", default 90;
        /// How many of them.
        sessions: Whole<1, 1_000_000> = "sessions", default 10000;
        /// How many megabytes all of them may have together.
        megabytes: Whole<1, 1_000_000> = "megabytes", default 1000;
    }
}
