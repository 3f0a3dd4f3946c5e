//! A certificate valid for the life of one server.

use std::net::IpAddr;
use std::sync::Arc;

use lanlab_connections::tls;
use lanlab_files::{Class, Fault, Result};
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub struct Identity {
    pub certificate: CertificateDer<'static>,
    pub key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A self-signed certificate for an address, trusted by clients through its hash.
    pub fn new(address: IpAddr) -> Result<Self> {
        let failed =
            |error: rcgen::Error| Fault::new(Class::Local, format!("certificate: {error}"));
        let key = KeyPair::generate().map_err(failed)?;
        let names = vec![address.to_string(), "localhost".to_owned()];
        let parameters = CertificateParams::new(names).map_err(failed)?;
        let certificate = parameters.self_signed(&key).map_err(failed)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        Ok(Self { certificate, key })
    }

    /// SHA-256 of the certificate in hexadecimal.
    pub fn sha256(&self) -> String {
        tls::sha256_hex(&self.certificate)
    }

    pub fn tls_server(&self) -> Result<Arc<ServerConfig>> {
        let failed = |error: rustls::Error| Fault::new(Class::Local, format!("TLS: {error}"));
        let config = ServerConfig::builder_with_provider(tls::provider())
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key())
            .map_err(failed)?;
        Ok(Arc::new(config))
    }
}
