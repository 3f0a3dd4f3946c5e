//! Verifies the server's identity over TLS.

use std::path::Path;
use std::sync::Arc;

use lanlab_connections::tls::{provider, sha256_hex};
use lanlab_files::{Class, Fault, Result, Trust};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, InvalidMessage,
    RootCertStore, SignatureScheme, SupportedProtocolVersion,
};

use crate::user_file;

/// Largest file of trusted certificates or keys, bytes.
pub const MOST_FILE_BYTES: u64 = 1 << 24;

pub fn tls_client(
    trust: &Trust,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<Arc<ClientConfig>> {
    let broken = |error: rustls::Error| Fault::new(Class::Local, format!("TLS: {error}"));
    let known = match trust {
        Trust::Sha256(wanted) => Known::Hash(wanted.to_lowercase()),
        Trust::System => {
            let found = rustls_native_certs::load_native_certs().certs;
            Known::certificates(found)?.ok_or_else(|| {
                Fault::new(Class::Certificate, "this system has no certificates of authorities")
                    .hint("install ca-certificates, or name the server's certificate by its hash")
            })?
        }
        Trust::File(path) => {
            let text = user_file::read(Path::new(path), MOST_FILE_BYTES)?;
            let found = CertificateDer::pem_slice_iter(user_file::without_mark(&text)).flatten();
            Known::certificates(found.collect())?.ok_or_else(|| {
                let message = format!("{path}: found no certificate; allowed: PEM");
                Fault::new(Class::Certificate, message)
            })?
        }
    };
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(versions)
        .map_err(broken)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(known))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

pub fn tls_fault(what: &str, error: &std::io::Error) -> Fault {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(other))) => {
            let ours = other.0.downcast_ref::<Fault>();
            let mut fault = ours.cloned().unwrap_or_else(|| broken(error));
            fault.message = format!("{what}: {}", fault.message);
            fault
        }
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::General(_)) => {
            Fault::new(Class::Certificate, format!("{what}: {error}"))
                .hint("if it is the right server, name its certificate by its SHA-256")
        }
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            Fault::new(Class::Protocol, format!("{what}: found an answer that is not TLS"))
                .hint("this port does not support TLS: use another, or the service without TLS")
        }
        Some(rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)) => {
            Fault::new(Class::Protocol, format!("{what}: {error}"))
                .hint("allow TLS 1.2 or 1.3 at the server")
        }
        Some(_) => Fault::new(Class::Protocol, format!("{what}: {error}")),
        None => Fault::of_connection(what, error),
    }
}

#[derive(Debug)]
enum Known {
    Hash(String),
    /// Accepts servers whose certificate is issued by one of these, or is one of these and has the
    /// right name. `openssl req -x509` marks a certificate as an authority's, which is otherwise
    /// not valid for a server.
    Certificates(Vec<CertificateDer<'static>>, Arc<WebPkiServerVerifier>),
}

impl Known {
    fn certificates(found: Vec<CertificateDer<'static>>) -> Result<Option<Self>> {
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(found.iter().cloned()).0 == 0 {
            return Ok(None);
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider());
        let verifier = verifier.build().map_err(broken)?;
        Ok(Some(Self::Certificates(found, verifier)))
    }
}

fn broken(error: impl std::fmt::Display) -> Fault {
    Fault::new(Class::Local, format!("TLS: {error}"))
}

fn untrusted(why: String, certificate: &CertificateDer<'_>) -> rustls::Error {
    let hash = sha256_hex(certificate);
    let fault = Fault::new(Class::Certificate, why)
        .hint(format!("if it is the right server, add `--trust sha256:{hash}`"));
    rustls::Error::InvalidCertificate(CertificateError::Other(rustls::OtherError(Arc::new(fault))))
}

/// Instead of rustls' own words, which are internal names.
fn words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no trusted authority has issued the certificate".to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::Other(other))
            if other.0.to_string() == "CaUsedAsEndEntity" =>
        {
            "the certificate is self-signed".to_owned()
        }
        error => error.to_string(),
    }
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        match self {
            Self::Hash(wanted) => {
                if sha256_hex(end_entity) == *wanted {
                    return Ok(ServerCertVerified::assertion());
                }
                Err(untrusted(
                    format!("found another certificate; allowed: the one with SHA-256 {wanted}"),
                    end_entity,
                ))
            }
            Self::Certificates(own, _) if own.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Self::Certificates(_, authorities) => authorities
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .map_err(|error| untrusted(words(&error), end_entity)),
        }
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

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    use super::*;

    fn self_signed(name: &str, is_ca: IsCa) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = is_ca;
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn a_pinned_certificate_is_valid_for_its_own_name() {
        // Made by `openssl req -x509`.
        for is_ca in [IsCa::Ca(BasicConstraints::Unconstrained), IsCa::ExplicitNoCa] {
            let own = self_signed("nas.example", is_ca);
            let other = self_signed("nas.example", IsCa::ExplicitNoCa);
            let known = Known::certificates(vec![own.clone()]).unwrap().unwrap();
            let verified = |certificate, name| {
                let name = ServerName::try_from(name).unwrap();
                known.verify_server_cert(certificate, &[], &name, &[], UnixTime::now()).is_ok()
            };
            assert!(verified(&own, "nas.example"));
            assert!(!verified(&own, "other.example"));
            assert!(!verified(&other, "nas.example"));
        }
    }

    #[test]
    fn the_hint_of_an_untrusted_certificate_trusts_it() {
        let own = self_signed("nas.example", IsCa::ExplicitNoCa);
        let other = self_signed("nas.example", IsCa::ExplicitNoCa);
        let name = ServerName::try_from("nas.example").unwrap();
        for known in [
            Known::certificates(vec![own.clone()]).unwrap().unwrap(),
            Known::Hash(sha256_hex(&own)),
        ] {
            let refused = known.verify_server_cert(&other, &[], &name, &[], UnixTime::now());
            let fault = tls_fault("TLS", &std::io::Error::other(refused.unwrap_err()));
            let hash = sha256_hex(&other);
            assert!(fault.hint.unwrap().ends_with(&format!("add `--trust sha256:{hash}`")));
            assert_eq!(fault.class, Class::Certificate);
        }
    }
}
