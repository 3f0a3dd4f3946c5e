//! Whom to take for the server, over TLS.

use std::path::Path;
use std::sync::Arc;

use lanlab_connections::tls::{provider, sha256_hex};
use lanlab_files::{Class, Fault, Result, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use crate::user_file;

/// Largest file of trusted certificates or keys, bytes.
pub const MOST_FILE_BYTES: u64 = 1 << 24;

/// What checks a server's certificate.
pub fn tls_client(trust: &Trust) -> Result<Arc<ClientConfig>> {
    let broken = |error: rustls::Error| Fault::new(Class::Local, format!("TLS: {error}"));
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(broken)?;
    let config = match trust {
        Trust::Sha256(wanted) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned { wanted: wanted.to_lowercase() }))
            .with_no_client_auth(),
        Trust::System => {
            let found = rustls_native_certs::load_native_certs();
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let message = "this system has no certificates of authorities";
                return Err(Fault::new(Class::Certificate, message).hint(
                    "install ca-certificates, or name the server's certificate by its hash",
                ));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Trust::File(path) => {
            let text = user_file::read(Path::new(path), MOST_FILE_BYTES)?;
            let mut roots = RootCertStore::empty();
            for certificate in
                CertificateDer::pem_slice_iter(user_file::without_mark(&text)).flatten()
            {
                roots.add(certificate).map_err(broken)?;
            }
            if roots.is_empty() {
                let message = format!("{path}: found no certificate; allowed: PEM");
                return Err(Fault::new(Class::Certificate, message));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(Arc::new(config))
}

/// What a failed TLS handshake says.
pub fn tls_fault(what: &str, error: &std::io::Error) -> Fault {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let hint = "if it is the right server, name its certificate by its SHA-256";
    match tls {
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(other))) => {
            // Ours, in words; as an error of rustls it would show how it is kept.
            Fault::new(Class::Certificate, format!("{what}: {}", other.0)).hint(hint)
        }
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::General(_)) => {
            Fault::new(Class::Certificate, format!("{what}: {error}")).hint(hint)
        }
        Some(_) => Fault::new(Class::Protocol, format!("{what}: {error}")),
        None => Fault::of_connection(what, error),
    }
}

/// Accepts one certificate, known by its hash, and no other. Its contents are not checked.
#[derive(Debug)]
struct Pinned {
    wanted: String,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let found = sha256_hex(end_entity);
        if found == self.wanted {
            return Ok(ServerCertVerified::assertion());
        }
        let message = format!("found a certificate with SHA-256 {found}; allowed: {}", self.wanted);
        let other = rustls::OtherError(Arc::new(Fault::new(Class::Certificate, message)));
        Err(rustls::Error::InvalidCertificate(CertificateError::Other(other)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
