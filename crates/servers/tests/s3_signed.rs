//! URLs that somebody signed and somebody else uses, over HTTP: with this test's own signatures, made
//! as the Amazon S3 API Reference says ("Authenticating Requests: Using Query Parameters", and of
//! version 2 "Query string request authentication alternative").

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::http_support::{Said, octets, served, side_by_side, user};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac};
use lanlab_files::ServiceKind;
use sha1::Sha1;
use sha2::{Digest, Sha256};

struct Moment {
    day: String,
    time: String,
    since_1970_s: u64,
}

fn now() -> Moment {
    let since_1970_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let text = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{since_1970_s}"), "+%Y%m%dT%H%M%SZ"])
        .output()
        .unwrap();
    let time = String::from_utf8(text.stdout).unwrap().trim().to_owned();
    Moment { day: time[..8].to_owned(), time, since_1970_s }
}

fn encoded(text: &str, keep: &str) -> String {
    text.bytes().fold(String::new(), |mut all, octet| {
        let character = char::from(octet);
        if octet.is_ascii_alphanumeric() || "-._~".contains(character) || keep.contains(character) {
            all.push(character);
        } else {
            let _ = write!(all, "%{octet:02X}");
        }
        all
    })
}

fn sha256(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut all, octet| {
        let _ = write!(all, "{octet:02x}");
        all
    })
}

/// Path and query of a URL that `host` serves for a while.
fn by_version_4(method: &str, host: &str, key: &str, now: &Moment) -> String {
    let (user, path) = (user(), format!("/lanlab/{}", encoded(key, "/")));
    let scope = format!("{}/eu-central-1/s3/aws4_request", now.day);
    let query = format!(
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date={}&X-Amz-Expires=600&\
         X-Amz-SignedHeaders=host",
        encoded(&format!("{}/{scope}", user.user), ""),
        now.time
    );
    let request = format!("{method}\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD");
    let hash = hexadecimal(&Sha256::digest(request));
    let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{hash}", now.time);
    let mut signing = format!("AWS4{}", user.secret).into_bytes();
    for part in [&now.day, "eu-central-1", "s3", "aws4_request"] {
        signing = sha256(&signing, part);
    }
    format!("{path}?{query}&X-Amz-Signature={}", hexadecimal(&sha256(&signing, &text)))
}

fn by_version_2(method: &str, key: &str, now: &Moment) -> String {
    let (user, path) = (user(), format!("/lanlab/{}", encoded(key, "/")));
    let expires = now.since_1970_s + 600;
    let mut mac = Hmac::<Sha1>::new_from_slice(user.secret.as_bytes()).unwrap();
    mac.update(format!("{method}\n\n\n{expires}\n{path}").as_bytes());
    let signature = encoded(&BASE64_STANDARD.encode(mac.finalize().into_bytes()), "");
    format!("{path}?AWSAccessKeyId={}&Signature={signature}&Expires={expires}", user.user)
}

/// A request as who is given a URL makes it: nothing of S3 in its head.
async fn plainly(port: u16, line: &str, host: &str, body: &str) -> Said {
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: x/1\r\nAccept: */*\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let answer = octets(port, request.as_bytes(), false).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    Said { status, head: head.to_lowercase(), body: body.to_owned() }
}

#[tokio::test]
async fn a_signed_url_suffices_to_write_and_read_an_object() {
    let root = tempfile::tempdir().unwrap();
    let (serving, _) = served(ServiceKind::S3, root.path()).await;
    let (port, now) = (serving.port(), now());
    let mut refused = Vec::new();
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        for key in ["plain", "a b/c+d&e=f;ü~%41"] {
            for version in [4, 2] {
                let url = |method: &str| match version {
                    4 => by_version_4(method, &host, key, &now),
                    _ => by_version_2(method, key, &now),
                };
                let what = format!("version {version}, {key} of {host}");
                let text = format!("content by {what}");
                let put = plainly(port, &format!("PUT {}", url("PUT")), &host, &text).await;
                assert_eq!(put.status, 200, "{what}: {}", put.body);
                assert_eq!(std::fs::read_to_string(root.path().join(key)).unwrap(), text);
                let get = plainly(port, &format!("GET {}", url("GET")), &host, "").await;
                assert_eq!((get.status, get.body), (200, text), "{what}");
                let head = plainly(port, &format!("HEAD {}", url("HEAD")), &host, "").await;
                assert_eq!(head.status, 200, "{what}");
                // Good for what it was signed for, and nothing else.
                let wrong = [
                    format!("DELETE {}", url("GET")),
                    format!("GET {}", url("GET").replacen("/lanlab/", "/lanlab/x", 1)),
                    format!("GET {}", url("PUT")),
                    format!("PUT {}&x-amz-copy-source=%2Flanlab%2Fplain", url("PUT")),
                    format!("PUT {}&uploadId=x&partNumber=1", url("PUT")),
                ];
                refused.extend(wrong.map(|line| (line, host.clone())));
            }
        }
    }
    // Each is answered late, as a wrong password is.
    let each = refused.into_iter().map(|(line, host)| async move {
        let said = plainly(port, &line, &host, "").await;
        assert_eq!(said.status, 403, "{line}: {}", said.body);
        assert!(said.body.contains("SignatureDoesNotMatch"), "{line}: {}", said.body);
    });
    side_by_side(each).await;
    let long_ago =
        Moment { day: "20200101".into(), time: "20200101T000000Z".into(), since_1970_s: 0 };
    let host = format!("127.0.0.1:{port}");
    let over =
        [by_version_4("GET", &host, "plain", &long_ago), by_version_2("GET", "plain", &long_ago)];
    for url in over {
        let said = plainly(port, &format!("GET {url}"), &host, "").await;
        assert!(said.status == 403 && said.body.contains("is over"), "{}", said.body);
    }
    // Version 4 names the host, with its port.
    let url = by_version_4("GET", "127.0.0.1", "plain", &now);
    assert_eq!(plainly(port, &format!("GET {url}"), &host, "").await.status, 403);
    serving.end().await;
}
