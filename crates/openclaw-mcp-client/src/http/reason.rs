//! Plain words for what went wrong under a request.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as RustlsError};

use super::connector::ConnectError;
use super::excerpt::one_line;
use super::stream::NeverSpoke;

/// How the standard library begins what it says about names, on all systems but Windows.
const LOOKUP: &str = "failed to lookup address information";

/// How deep a chain of errors is followed.
const DEEPEST: usize = 16;

/// Says what lies at the end of a chain of errors.
pub(super) fn plain_reason(error: &(dyn StdError + 'static)) -> String {
    let mut reason = None;
    for cause in chain(error) {
        if let Some(words) = plain_words(cause) {
            reason = Some(words);
        }
    }
    // Nothing that is known: the innermost error says most.
    let reason = reason
        .or_else(|| chain(error).last().map(ToString::to_string))
        .unwrap_or_default();
    // Servers have their say in it: names in certificates, what they end a connection with.
    let reason = one_line(&reason);
    // With a proxy in between it matters who could not be reached.
    let proxy = chain(error)
        .filter_map(|cause| cause.downcast_ref::<ConnectError>())
        .find(|error| matches!(error, ConnectError::Proxy { .. }));
    match proxy {
        Some(proxy) => format!("{proxy}: {reason}"),
        None => reason,
    }
}

/// Whether the server refused to talk to us once it had seen our certificate, or that there is
/// none.
///
/// In TLS 1.3 the client is done first and sends its request at once; that its certificate is
/// refused comes afterwards, but nothing of the request was read. The same alert at a later time
/// says nothing of the kind, so it only counts if the server had not said anything before. (h2
/// keeps no more than the text of an error: over HTTP/2 such a refusal is a connection that broke.)
pub(super) fn is_refused_handshake(error: &(dyn StdError + 'static)) -> bool {
    let never_spoke = chain(error).any(<dyn StdError>::is::<NeverSpoke>);
    never_spoke
        && chain(error)
            .filter_map(|cause| cause.downcast_ref::<RustlsError>())
            .any(|error| {
                matches!(error, RustlsError::AlertReceived(alert) if about_our_certificate(*alert))
            })
}

/// Whether a server offers none of the versions of HTTP that it was asked for.
pub(super) fn is_other_version(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|cause| cause.downcast_ref::<RustlsError>())
        .any(|error| {
            matches!(
                error,
                RustlsError::AlertReceived(AlertDescription::NoApplicationProtocol)
            )
        })
}

/// Whether nothing of the request was written: its connection closed before its turn came.
pub(super) fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_canceled)
}

/// Whether the server says that it did nothing with the request, which HTTP/2 can: it ended the
/// connection in good order before it looked at the request, or it refused the request alone
/// (RFC 9113 §8.7).
pub(super) fn is_unprocessed(error: &(dyn StdError + 'static)) -> bool {
    chain(error)
        .filter_map(|cause| cause.downcast_ref::<h2::Error>())
        .any(|error| {
            let ended = error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR);
            let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
            error.is_remote() && (ended || refused)
        })
}

/// An error and all that led to it.
pub(super) fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| below(*error)).take(DEEPEST)
}

fn below<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    // An I/O error that wraps another one leaves it out of `source`.
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn plain_words(error: &(dyn StdError + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<RustlsError>() {
        return Some(tls_words(error));
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return http_words(error).map(ToOwned::to_owned);
    }
    let error = error.downcast_ref::<io::Error>()?;
    let text = error.to_string();
    if let Some(rest) = text.strip_prefix(LOOKUP) {
        return Some(format!("its name cannot be looked up{rest}"));
    }
    io_words(error.kind()).map(ToOwned::to_owned)
}

fn io_words(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::ConnectionRefused => "connection refused",
        io::ErrorKind::ConnectionReset => "the connection was reset",
        io::ErrorKind::ConnectionAborted => "the connection was aborted",
        io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => "the connection was closed",
        io::ErrorKind::HostUnreachable => "there is no way to the host",
        io::ErrorKind::NetworkUnreachable => "there is no way to the network",
        io::ErrorKind::TimedOut => "the connection timed out",
        io::ErrorKind::PermissionDenied => "the system does not permit the connection",
        _ => return None,
    })
}

fn http_words(error: &hyper::Error) -> Option<&'static str> {
    if error.is_incomplete_message() {
        Some("it was closed before the answer was complete")
    } else if error.is_parse() {
        Some("the answer is not HTTP")
    } else {
        None
    }
}

fn tls_words(error: &RustlsError) -> String {
    match error {
        RustlsError::InvalidCertificate(problem) => certificate_words(problem),
        RustlsError::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server wants a client certificate (`clientCert`)".to_owned()
        }
        RustlsError::AlertReceived(alert) if about_our_certificate(*alert) => {
            format!("the server refuses our client certificate ({alert:?})")
        }
        RustlsError::AlertReceived(alert) => {
            format!("the server refuses the TLS connection ({alert:?})")
        }
        RustlsError::InvalidMessage(_) => {
            "the answer is not TLS; is this an `http://` address?".to_owned()
        }
        RustlsError::PeerIncompatible(_) => {
            "the server offers no version of TLS that is safe enough".to_owned()
        }
        other => format!("TLS failed: {other}"),
    }
}

fn certificate_words(problem: &CertificateError) -> String {
    match problem {
        CertificateError::UnknownIssuer => {
            "its certificate is not signed by an authority that is trusted here \
             (`caCert` names more)"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; is the clock right?".to_owned()
        }
        CertificateError::NotValidForName => "its certificate is for another name".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().map(|name| bare_name(name)).collect();
            format!("its certificate is for another name: {}", names.join(", "))
        }
        // Often an authority that was made anew under its old name.
        CertificateError::BadSignature => {
            "its certificate was not signed by the authority that is trusted here".to_owned()
        }
        CertificateError::Revoked => "its certificate was revoked".to_owned(),
        other => format!("its certificate is not valid: {other}"),
    }
}

/// Takes a name out of the form that it has in the certificate, such as `DnsName("a.example")`.
fn bare_name(name: &str) -> &str {
    name.split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'))
        .unwrap_or(name)
        .trim_matches('"')
}

fn about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn the_innermost_reason_counts() {
        let refused = Outer(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(plain_reason(&refused), "connection refused");
        // An I/O error is only a wrapper here.
        let wrapped = io::Error::other(RustlsError::InvalidCertificate(CertificateError::Revoked));
        assert_eq!(plain_reason(&Outer(wrapped)), "its certificate was revoked");
        let unknown = Outer(io::Error::other("something odd"));
        assert_eq!(plain_reason(&unknown), "something odd");
        let name = io::Error::other(format!("{LOOKUP}: Name or service not known"));
        assert_eq!(
            plain_reason(&Outer(name)),
            "its name cannot be looked up: Name or service not known"
        );
    }

    #[test]
    fn only_what_is_about_our_certificate_is_a_refused_handshake() {
        let refused = |alert| {
            let error = io::Error::other(alert);
            assert!(!is_refused_handshake(&Outer(io::Error::other(
                RustlsError::AlertReceived(AlertDescription::AccessDenied)
            ))));
            is_refused_handshake(&Outer(io::Error::other(NeverSpoke::new(error))))
        };
        assert!(refused(RustlsError::AlertReceived(
            AlertDescription::CertificateRequired
        )));
        assert!(!refused(RustlsError::AlertReceived(
            AlertDescription::InternalError
        )));
        assert!(!refused(RustlsError::InvalidCertificate(
            CertificateError::Expired
        )));
    }

    #[test]
    fn names_are_taken_out_of_their_form() {
        assert_eq!(bare_name("DnsName(\"a.example\")"), "a.example");
        assert_eq!(bare_name("IpAddress(127.0.0.1)"), "127.0.0.1");
        assert_eq!(bare_name("plain"), "plain");
    }
}
