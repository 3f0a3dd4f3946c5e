//! A peer that sends given answers, and what a client must make of them.

use std::sync::Arc;
use std::time::Duration;

use lanlab_clients::{AnySession, connect};
use lanlab_files::{Access, Class, ServiceKind, Session};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, LocalSet};

use super::{LOOPBACK, content, path, read_whole, target, within_seconds, write_whole};

/// What a hostile peer does once it has said what it has to say.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// Wait for the next request.
    GoOn,
    /// Close the connection.
    Close,
    /// Say nothing any more, and read nothing.
    Hang,
    /// Say this again and again, as long as anybody listens.
    Repeat(&'static [u8]),
    /// The same, an octet every 50 ms.
    Drip(&'static [u8]),
    /// Read all that comes, and say nothing any more.
    Drain,
}

/// A peer that answers one request after another with given answers, over as many connections as it
/// takes. Gives its port.
pub async fn scripted(answers: Vec<(Vec<u8>, Then)>) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let mut answers = answers.into_iter();
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            while request_head(&mut stream).await {
                let Some((text, then)) = answers.next() else { return };
                let _ = stream.write_all(&text).await;
                match then {
                    Then::GoOn => continue,
                    Then::Close => {}
                    Then::Hang => {
                        kept.push(stream);
                        break;
                    }
                    Then::Repeat(again) => while stream.write_all(again).await.is_ok() {},
                    Then::Drip(again) => drip(&mut stream, again).await,
                    Then::Drain => {
                        let mut sink = vec![0; 1 << 16];
                        while stream.read(&mut sink).await.is_ok_and(|count| count > 0) {}
                    }
                }
                break;
            }
        }
    });
    (port, task)
}

async fn drip(stream: &mut TcpStream, again: &[u8]) {
    // For a minute: no client may listen longer.
    for octet in again.iter().cycle().take(1200) {
        if stream.write_all(&[*octet]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn request_head(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut octet = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut octet).await {
            Ok(1) if head.len() < 10_000 => head.push(octet[0]),
            _ => return false,
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; if length < 10_000 { length } else { 0 }];
    stream.read_exact(&mut body).await.is_ok()
}

pub fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Connect to a scripted peer whose first answers are `greeting`; the rest is `answers`.
pub async fn to_scripted(
    service: ServiceKind,
    greeting: Vec<Vec<u8>>,
    answers: Vec<(Vec<u8>, Then)>,
) -> AnySession {
    let mut script: Vec<_> = greeting.into_iter().map(|answer| (answer, Then::GoOn)).collect();
    script.extend(answers);
    let (port, _) = scripted(script).await;
    let mut target = target(service, port);
    target.timeout_ns = 5_000_000_000;
    connect(&target).await.unwrap()
}

/// What every service over HTTP must make of a peer that does not keep to it while a file is read.
#[allow(clippy::too_many_lines, reason = "most of them are one table")]
pub async fn reading_from_hostile_peers(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let chunked = |body: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes()
    };
    let text = |text: &str| text.as_bytes().to_vec();
    let filler: &[u8] = &[b'a'; 4096];
    let header: &[u8] = b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    let cases = [
        ("cut in its middle", said(1000, 500), Then::Close, Class::Reset),
        ("too many bytes", said(10, 20), Then::GoOn, Class::Length),
        ("one byte too many", said(1000, 1001), Then::GoOn, Class::Length),
        ("one byte too few", said(1000, 999), Then::Close, Class::Reset),
        ("no answer", Vec::new(), Then::Hang, Class::TimedOut),
        ("nothing after the head", said(1000, 0), Then::Hang, Class::TimedOut),
        ("gone", Vec::new(), Then::Close, Class::Reset),
        ("no HTTP", text("\x00\x01garbage\r\n\r\n"), Then::Hang, Class::Protocol),
        ("a line without an end", text("HTTP/1.1 200 "), Then::Repeat(filler), Class::Protocol),
        (
            "headers without an end",
            text("HTTP/1.1 200 OK\r\n"),
            Then::Repeat(header),
            Class::Protocol,
        ),
        ("no length of a chunk", chunked("zz\r\n"), Then::Hang, Class::Protocol),
        ("a chunk beyond all", chunked("fffffffffffffffff\r\n"), Then::Hang, Class::Protocol),
        ("chunks that break off", chunked("5\r\nabc"), Then::Close, Class::Reset),
        ("more than a chunk said", chunked("3\r\nabcd\r\n"), Then::Hang, Class::Protocol),
        ("no more chunks", chunked("3\r\nabc\r\n"), Then::Hang, Class::TimedOut),
        ("no last chunk", chunked("3\r\nabc\r\n"), Then::Close, Class::Reset),
        (
            "a refusal in place of the last chunk",
            [chunked("3\r\nabc\r\n"), answer("500 No", "")].concat(),
            Then::GoOn,
            Class::Protocol,
        ),
        (
            "a refusal after the last byte",
            [said(1000, 1000), answer("500 No", "")].concat(),
            Then::GoOn,
            Class::Length,
        ),
        ("an extension without an end", chunked("3;"), Then::Repeat(filler), Class::Protocol),
        (
            "fields without an end after the last chunk",
            chunked("0\r\n"),
            Then::Repeat(header),
            Class::Protocol,
        ),
        ("cut in its head", text("HTTP/1.1 200 OK\r\nContent-Le"), Then::Close, Class::Reset),
        (
            "a head that comes too slowly",
            text("HTTP/1.1 200 OK\r\n"),
            Then::Drip(header),
            Class::TimedOut,
        ),
        (
            "lengths of two sorts",
            text(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n\
                 3\r\nabc\r\n0\r\n\r\n",
            ),
            Then::GoOn,
            Class::Protocol,
        ),
        (
            "two lengths",
            text("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
            Then::GoOn,
            Class::Protocol,
        ),
        (
            "another protocol",
            text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
            Then::Hang,
            Class::Protocol,
        ),
        ("interim answers only", Vec::new(), Then::Repeat(INTERIM), Class::Protocol),
        (
            "another place",
            text("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"),
            Then::GoOn,
            Class::Protocol,
        ),
        ("no space", answer("507 Insufficient Storage", ""), Then::GoOn, Class::NoSpace),
        (
            "an endless reason",
            text("HTTP/1.1 404 No\r\n\r\n"),
            Then::Repeat(filler),
            Class::Missing,
        ),
    ];
    let each = cases.into_iter().map(|(what, bytes, then, class)| async move {
        let session = to_scripted(service, greeting(), vec![(bytes, then)]).await;
        let read = within_seconds(60, read_whole(&session, &path("x"))).await;
        let fault = read.expect_err(what);
        assert_eq!(fault.class, class, "{what}: {fault}");
        assert!(fault.message.contains("GET x"), "{what}: {fault}");
    });
    side_by_side(each).await;
    closing_after_the_last_byte(service, greeting).await;
    reading_another_range(service, greeting).await;
}

/// An answer that says `length` bytes and sends `sent`.
fn said(length: usize, sent: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    [head.into_bytes(), vec![b'x'; sent]].concat()
}

/// A reader that knows the length, takes as much, and closes.
async fn closing_after_the_last_byte(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let no = answer("500 No", "");
    for (what, rest) in [("one byte too many", &b"x"[..]), ("a refusal", &no), ("nothing", b"")] {
        let script = vec![([&said(1000, 1000), rest].concat(), Then::GoOn)];
        let session = to_scripted(service, greeting(), script).await;
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        assert_eq!(session.read_at(&file, 0, &mut [0; 1000]).await.unwrap(), 1000);
        let closed = session.close(file).await.map_err(|fault| fault.class);
        let wanted = if rest.is_empty() { Ok(()) } else { Err(Class::Length) };
        assert_eq!(closed, wanted, "{what}");
    }
    closing_after_a_whole_chunk(service, greeting).await;
}

/// The same, of an answer in chunks: what follows the last byte ends it, goes on, or is none.
async fn closing_after_a_whole_chunk(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n".to_vec();
    let refusal = answer("500 No", "");
    for (what, rest, then, wanted) in [
        ("the last chunk", &b"0\r\n\r\n"[..], Then::GoOn, Ok(())),
        ("more of a file left in its middle", b"3\r\nabc\r\n", Then::Hang, Ok(())),
        ("a refusal", &refusal, Then::GoOn, Err(Class::Protocol)),
        ("octets after the last chunk", b"0\r\n\r\nx", Then::GoOn, Err(Class::Length)),
        ("its end", b"", Then::Close, Err(Class::Reset)),
        ("nothing", b"", Then::Hang, Err(Class::TimedOut)),
    ] {
        let script = vec![([&chunk, rest].concat(), then)];
        let session = to_scripted(service, greeting(), script).await;
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        assert_eq!(session.read_at(&file, 0, &mut [0; 3]).await.unwrap(), 3);
        let closed = session.close(file).await.map_err(|fault| fault.class);
        assert_eq!(closed, wanted, "{what}");
    }
}

/// An answer of another range than was asked for.
async fn reading_another_range(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let lies = ["bytes 0-9/5000", "bytes 700-1699/5000", "bytes 700-", "none"];
    for lie in lies {
        let head = format!(
            "HTTP/1.1 206 Partial\r\nContent-Range: {lie}\r\nContent-Length: 10\r\n\r\n0123456789"
        );
        let script = vec![(said(5000, 5000), Then::GoOn), (head.into_bytes(), Then::GoOn)];
        let session = to_scripted(service, greeting(), script).await;
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        let read = session.read_at(&file, 700, &mut [0; 100]).await;
        assert_eq!(read.expect_err(lie).class, Class::Length, "{lie}");
    }
}

const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A file of a few octets goes out in one piece with the head of its request, and answers before the
/// answer change nothing.
pub async fn a_short_file_is_one_segment(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let target = target(service, listener.local_addr().unwrap().port());
    let peer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in greeting() {
            assert!(request_head(&mut stream).await);
            stream.write_all(&answer).await.unwrap();
        }
        let mut segments = Vec::new();
        for length in [6000, 0] {
            let mut segment = vec![0; 1 << 16];
            let count = stream.read(&mut segment).await.unwrap();
            segment.truncate(count);
            assert!(segment.ends_with(&content(length, 1)), "{count} octets");
            segments.push(segment);
            let created = answer("201 Created", "");
            stream.write_all(&[INTERIM, INTERIM, &created].concat()).await.unwrap();
        }
        segments
    };
    let copy = async {
        let session = connect(&target).await.unwrap();
        for length in [6000, 0] {
            write_whole(&session, &path("x"), &content(length, 1)).await.unwrap();
        }
        assert!(!session.facts().protocol.contains("connections"));
    };
    let (segments, ()) = within_seconds(60, async { tokio::join!(peer, copy) }).await;
    for segment in segments {
        assert!(segment.starts_with(b"PUT /"));
        assert!(segment.windows(4).any(|octets| octets == b"\r\n\r\n"));
    }
}

/// What it must make of one that does not keep to it while a file is written.
pub async fn writing_to_hostile_peers(service: ServiceKind, greeting: fn() -> Vec<Vec<u8>>) {
    let data = Arc::new(content(16 << 20, 1));
    let cases = [
        ("interim answers only", Vec::new(), Then::Repeat(INTERIM), Class::Protocol),
        ("garbage", b"220 ready\r\n".to_vec(), Then::Hang, Class::Protocol),
        ("forbidden, all the same read", answer("403 No", "why"), Then::Drain, Class::Denied),
        (
            "refused after an interim answer",
            [INTERIM, &answer("507 Insufficient Storage", "why")].concat(),
            Then::Hang,
            Class::NoSpace,
        ),
        (
            "refused, and closed",
            answer("507 Insufficient Storage", "why"),
            Then::Close,
            Class::NoSpace,
        ),
        ("a head that comes too slowly", Vec::new(), Then::Drip(b"HTTP/1.1 403 "), Class::TimedOut),
        ("refused at once", answer("507 Insufficient Storage", ""), Then::Hang, Class::NoSpace),
        ("taken before it came", answer("201 Created", ""), Then::Hang, Class::Protocol),
        ("never read", Vec::new(), Then::Hang, Class::TimedOut),
        ("gone", Vec::new(), Then::Close, Class::Reset),
    ];
    let each = cases.into_iter().map(|(what, bytes, then, class)| {
        let data = Arc::clone(&data);
        async move {
            let session = to_scripted(service, greeting(), vec![(bytes, then)]).await;
            let written = within_seconds(60, write_whole(&session, &path("x"), &data)).await;
            let fault = written.expect_err(what);
            assert_eq!(fault.class, class, "{what}: {fault}");
        }
    });
    side_by_side(each).await;
}

/// Cases that mostly wait, all at once.
pub async fn side_by_side(cases: impl IntoIterator<Item = impl Future<Output = ()> + 'static>) {
    let here = LocalSet::new();
    let tasks: Vec<_> = cases.into_iter().map(|case| here.spawn_local(case)).collect();
    here.await;
    for task in tasks {
        task.await.unwrap();
    }
}
