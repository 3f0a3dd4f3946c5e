//! Requests as they stand on the wire, and what is said to them.

use std::path::Path;

use lanlab_files::ServiceKind;
use lanlab_servers::{Offer, Serving, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{LOOPBACK, offer, within_seconds};

/// A bucket for anybody, so that a request is what stands in a test.
pub async fn open_bucket(root: &Path) -> Serving {
    let offer = Offer { credentials: None, ..offer(ServiceKind::S3, root) };
    serve(&offer).await.unwrap()
}

#[derive(Debug)]
pub struct Said {
    pub status: u16,
    /// In small letters.
    pub head: String,
    pub body: String,
}

pub async fn ask(serving: &Serving, line: &str, fields: &[&str], body: &[u8]) -> Said {
    let length = format!("Content-Length: {}", body.len());
    let mut fields = fields.to_vec();
    if !fields.iter().any(|field| field.to_lowercase().starts_with("transfer-encoding")) {
        fields.push(&length);
    }
    let head = format!(
        "{line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{}\r\n\r\n",
        fields.join("\r\n")
    );
    let answer = octets(serving.port(), &[head.as_bytes(), body].concat(), false).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    Said { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// What a server says to octets, up to the end of the connection. `then_ends`: the client ends its
/// half after them, which a server may take for the end of it all.
pub async fn octets(port: u16, data: &[u8], then_ends: bool) -> Vec<u8> {
    let mut answer = Vec::new();
    let exchange = async {
        let mut stream = TcpStream::connect((LOOPBACK, port)).await.unwrap();
        // It may have been refused before all was sent.
        let _ = stream.write_all(data).await;
        if then_ends {
            let _ = stream.shutdown().await;
        }
        let _ = stream.read_to_end(&mut answer).await;
    };
    within_seconds(60, exchange).await;
    answer
}

/// What S3 names the reason of a refusal.
pub fn code(said: &Said) -> &str {
    said.body
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once('<'))
        .map_or("", |(code, _)| code)
}
