//! TLS of data connections: with clients that only write to an upload, and what resumes it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use lanlab_files::ServiceKind;
use rustls::client::TicketRequest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, SignatureScheme,
    StreamOwned,
};
use tempfile::TempDir;

use crate::stage::{LOOPBACK, content, run, served};

#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn config(tickets: Option<TicketRequest>) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth();
    config.send_ticket_request = tickets;
    Arc::new(config)
}

type Tls = StreamOwned<ClientConnection, TcpStream>;

fn shaken(config: &Arc<ClientConfig>, mut socket: TcpStream) -> Tls {
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut tls = ClientConnection::new(Arc::clone(config), ServerName::from(LOOPBACK)).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut socket).unwrap();
    }
    StreamOwned::new(tls, socket)
}

struct Client {
    config: Arc<ClientConfig>,
    control: BufReader<Tls>,
}

impl Client {
    fn new(port: u16, tickets: Option<TicketRequest>) -> Self {
        let config = config(tickets);
        let mut socket = TcpStream::connect((LOOPBACK, port)).unwrap();
        let mut clear = BufReader::new(socket.try_clone().unwrap());
        let mut line = String::new();
        clear.read_line(&mut line).unwrap();
        socket.write_all(b"AUTH TLS\r\n").unwrap();
        line.clear();
        clear.read_line(&mut line).unwrap();
        assert!(line.starts_with("234"), "{line}");
        let control = BufReader::new(shaken(&config, socket));
        let mut client = Self { config, control };
        for (say, wanted) in [
            ("USER station", "331"),
            ("PASS top secret", "230"),
            ("PBSZ 0", "200"),
            ("PROT P", "200"),
            ("TYPE I", "200"),
        ] {
            let said = client.say(say);
            assert!(said.starts_with(wanted), "{say}: {said}");
        }
        client
    }

    fn reply(&mut self) -> String {
        let mut line = String::new();
        self.control.read_line(&mut line).unwrap();
        line
    }

    fn say(&mut self, line: &str) -> String {
        self.control.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
        self.reply()
    }

    fn data(&mut self, command: &str) -> Tls {
        let said = self.say("EPSV");
        let port: u16 = said.split('|').nth(3).and_then(|port| port.parse().ok()).unwrap();
        let socket = TcpStream::connect((LOOPBACK, port)).unwrap();
        let said = self.say(command);
        assert!(said.starts_with("150"), "{said}");
        shaken(&self.config, socket)
    }
}

/// As Go's clients do, rclone among them: what they leave unread has the system reset the connection
/// when they close it, and what was written last is lost.
#[test]
fn a_write_only_tls_client_uploads_everything() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, _) = served(ServiceKind::Ftps, root.path()).await;
        let (port, folder) = (serving.port(), root.path().to_owned());
        let talk = move || {
            let mut client = Client::new(port, None);
            let sent = content(8 << 20, 31);
            for name in ["first", "second", "third"] {
                let mut data = client.data(&format!("STOR {name}"));
                let half = sent.len() / 2;
                data.write_all(&sent[..half]).unwrap();
                data.sock.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
                let come = data.sock.peek(&mut [0; 1]).map_err(|error| error.kind());
                assert!(
                    matches!(come, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)),
                    "{name}: found {come:?} to read on an upload; allowed: nothing"
                );
                data.write_all(&sent[half..]).unwrap();
                data.conn.send_close_notify();
                data.flush().unwrap();
                drop(data);
                let said = client.reply();
                assert!(said.starts_with("226"), "{name}: {said}");
                assert!(std::fs::read(folder.join(name)).unwrap() == sent, "{name}");
            }
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

#[test]
fn every_data_connection_resumes_tls_if_the_client_requests_tickets() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, _) = served(ServiceKind::Ftps, root.path()).await;
        let port = serving.port();
        let talk = move || {
            let wanted = TicketRequest { new_session_count: 2, resumption_count: 1 };
            let mut client = Client::new(port, Some(wanted));
            // More than came with the control connection, uploads and downloads.
            for number in 0..12 {
                let mut data = client.data(&format!("STOR f{number}"));
                assert_eq!(data.conn.handshake_kind(), Some(HandshakeKind::Resumed), "{number}");
                data.write_all(b"few").unwrap();
                data.conn.send_close_notify();
                data.flush().unwrap();
                data.sock.shutdown(std::net::Shutdown::Write).unwrap();
                let _ = data.read_to_end(&mut Vec::new());
                assert!(client.reply().starts_with("226"));
                let mut data = client.data(&format!("RETR f{number}"));
                assert_eq!(data.conn.handshake_kind(), Some(HandshakeKind::Resumed), "{number}");
                let mut back = Vec::new();
                data.read_to_end(&mut back).unwrap();
                assert_eq!(back, b"few");
                assert!(client.reply().starts_with("226"));
            }
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}
