//! Who decides whether a server's certificate is good.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Trusts authorities of a file, and those of the system beside them.
///
/// Two verifiers instead of one with all authorities: those of the system are read once, however
/// many settings there are, and on systems that judge certificates themselves their rules hold.
#[derive(Debug)]
pub(super) struct Additional {
    own: Arc<WebPkiServerVerifier>,
    system: Arc<Verifier>,
}

impl Additional {
    pub(super) fn new(own: Arc<WebPkiServerVerifier>, system: Arc<Verifier>) -> Self {
        Self { own, system }
    }
}

impl ServerCertVerifier for Additional {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |verifier: &dyn ServerCertVerifier| {
            verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        let own = match verify(&*self.own) {
            Ok(verified) => return Ok(verified),
            Err(error) => error,
        };
        verify(&*self.system).map_err(|system| match own {
            // The certificate is none of theirs: what the system says is the better reason.
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => system,
            own => own,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.own
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.own
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.own.supported_verify_schemes()
    }
}

/// Trusts everybody, because the configuration says so. Signatures are not checked either: that
/// would only tell that whoever shows a certificate owns it, and fail on certificates that are odd
/// in other ways.
#[derive(Debug)]
pub(super) struct Unverified {
    schemes: Vec<SignatureScheme>,
}

impl Unverified {
    pub(super) fn new(provider: &CryptoProvider) -> Self {
        let schemes = provider
            .signature_verification_algorithms
            .supported_schemes();
        Self { schemes }
    }
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
