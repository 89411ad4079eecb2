//! Which trace something belongs to, as it travels between programs: W3C Trace Context.

use std::fmt;

/// How many bytes of a `tracestate` are carried along; the specification asks for 512 at least.
const LONGEST_STATE: usize = 512;
/// How long a `traceparent` of the version that we know is.
const LENGTH: usize = 55;
/// The bit of the flags that says that the trace is recorded.
const SAMPLED: u8 = 1;

/// A trace, and the span in it that whatever follows belongs to.
#[derive(Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    span: u64,
    is_sampled: bool,
    state: Option<Box<str>>,
}

impl TraceContext {
    #[cfg(feature = "otel")]
    pub(crate) fn new(trace: u128, span: u64, is_sampled: bool, state: String) -> Self {
        Self {
            trace,
            span,
            is_sampled,
            state: Some(state)
                .filter(|state| is_carried(state))
                .map(String::into_boxed_str),
        }
    }

    /// Reads what another program says. A `traceparent` that is not exactly what the specification wants
    /// is none, and a `tracestate` that is not is left out.
    pub fn read(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let text = traceparent.as_bytes();
        let is_known = text.starts_with(b"00-");
        // Later versions may say more behind what we know, after a dash.
        let has_length = match text.get(LENGTH) {
            None => text.len() == LENGTH,
            Some(next) => !is_known && *next == b'-',
        };
        let dashes = [2, 35, 52].map(|place| text.get(place) == Some(&b'-'));
        if !has_length || dashes.contains(&false) || text.starts_with(b"ff") {
            return None;
        }
        let _version = hexadecimal(text.get(..2)?)?;
        let trace = hexadecimal(text.get(3..35)?)?;
        let span = u64::try_from(hexadecimal(text.get(36..52)?)?).ok()?;
        let flags = u8::try_from(hexadecimal(text.get(53..LENGTH)?)?).ok()?;
        (trace != 0 && span != 0).then(|| Self {
            trace,
            span,
            is_sampled: flags & SAMPLED != 0,
            state: tracestate.filter(|state| is_carried(state)).map(Box::from),
        })
    }

    /// The number of the trace.
    pub fn trace(&self) -> u128 {
        self.trace
    }

    /// The number of the span.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Whether the trace is recorded.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// As it is told to others.
    pub fn traceparent(&self) -> String {
        let (trace, span) = (self.trace, self.span);
        let flags = if self.is_sampled { SAMPLED } else { 0 };
        format!("00-{trace:032x}-{span:016x}-{flags:02x}")
    }

    /// What programs before us want to have passed on, if there is any.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.traceparent())
    }
}

/// A number of digits and small letters only: `u128::from_str_radix` takes capitals and signs, too.
fn hexadecimal(digits: &[u8]) -> Option<u128> {
    let mut number = 0;
    for digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        number = (number << 4) | u128::from(value);
    }
    Some(number)
}

/// Whether a `tracestate` is passed on. What its entries mean is not looked at.
fn is_carried(state: &str) -> bool {
    let is_printable = |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\t';
    !state.trim().is_empty() && state.len() <= LONGEST_STATE && state.bytes().all(is_printable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_read_is_told_as_it_was() {
        let context = TraceContext::read(GOOD, Some("rojo=1,congo=2")).unwrap();
        assert_eq!(context.traceparent(), GOOD);
        assert_eq!(context.tracestate(), Some("rojo=1,congo=2"));
        assert!(context.is_sampled());
        let unsampled = GOOD.replace("-01", "-00");
        let context = TraceContext::read(&unsampled, None).unwrap();
        assert_eq!(context.traceparent(), unsampled);
        assert!(!context.is_sampled());
    }

    #[test]
    fn what_the_specification_forbids_is_no_trace() {
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0G",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
            " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        ] {
            assert_eq!(TraceContext::read(bad, None), None, "{bad}");
        }
    }

    #[test]
    fn later_versions_are_understood_as_far_as_they_are_known() {
        for later in [
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff",
        ] {
            let context = TraceContext::read(later, None).unwrap();
            // Ours is the version that we know.
            assert_eq!(context.traceparent(), GOOD, "{later}");
        }
    }

    #[test]
    fn a_state_that_is_too_long_or_no_text_is_left_out() {
        let long = "a=".to_owned() + &"b".repeat(LONGEST_STATE);
        for bad in [long.as_str(), "a=\u{7}", "a=ä", "", "  "] {
            let context = TraceContext::read(GOOD, Some(bad)).unwrap();
            assert_eq!(context.tracestate(), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in ".{0,80}") {
            if let Some(context) = TraceContext::read(&text, Some(&text)) {
                prop_assert_eq!(TraceContext::read(&context.traceparent(), None).unwrap().span(), context.span());
            }
        }

        #[test]
        fn every_trace_survives_the_way(trace in 1_u128.., span in 1_u64.., is_sampled: bool) {
            let context = TraceContext { trace, span, is_sampled, state: None };
            prop_assert_eq!(TraceContext::read(&context.traceparent(), None), Some(context));
        }
    }
}
