//! Servers and connections that do what they should not.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use lanlab_clients::connect;
use lanlab_files::{Access, Class, Fault, ServiceKind, Session, Target};

use super::{LOOPBACK, content, path, served, target};

/// Longest that anything scripted here goes on.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that does what it likes with one connection, and whom it came from.
pub fn peer(script: impl FnOnce(TcpStream) + Send + 'static) -> (u16, Receiver<SocketAddr>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, ports) = channel();
    thread::spawn(move || {
        let (stream, from) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let _ = tell.send(from);
        script(stream);
    });
    (port, ports)
}

/// What a proxy does with an answer.
pub enum Pass {
    On,
    /// Half of it, and the connection ends.
    CutInTheMiddle,
    /// Nothing more, but the connection stays.
    Silence,
}

/// A proxy before a server, which may change its answers: each is a frame of four octets of length
/// (in which NFS has a bit set) and what follows.
pub fn proxy(
    server: u16,
    mut change: impl FnMut(&mut Vec<u8>) -> Pass + Send + 'static,
) -> (u16, Receiver<SocketAddr>) {
    peer(move |client| {
        let server = TcpStream::connect((LOOPBACK, server)).unwrap();
        let (mut from_client, mut to_server) =
            (client.try_clone().unwrap(), server.try_clone().unwrap());
        let there = thread::spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Both);
        });
        let (mut server, mut client) = (server, client);
        let mut header = [0; 4];
        while server.read_exact(&mut header).is_ok() {
            let length = u32::from_be_bytes(header) & 0x7fff_ffff;
            let mut frame = vec![0; length as usize];
            if server.read_exact(&mut frame).is_err() {
                break;
            }
            let pass = change(&mut frame);
            let octets = match pass {
                Pass::On => frame.len(),
                Pass::CutInTheMiddle => frame.len() / 2,
                Pass::Silence => {
                    // Until the client has had enough.
                    let _ = there.join();
                    return;
                }
            };
            // At once: what comes in two pieces waits 40 ms for an acknowledgement of the first.
            let sent = client.write_all(&[&header, &frame[..octets]].concat());
            if sent.is_err() || matches!(pass, Pass::CutInTheMiddle) {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = there.join();
    })
}

/// Read a file of 300 kB through a proxy that changes the answers with its data.
pub async fn read_through(
    service: ServiceKind,
    timeout_ns: u64,
    mut change: impl FnMut(&mut Vec<u8>) -> Pass + Send + 'static,
) -> Fault {
    let (root, serving, target) = served(service).await;
    std::fs::write(root.path().join("file"), content(300_000, 8)).unwrap();
    let (port, from) =
        proxy(
            serving.port(),
            move |frame| {
                if frame.len() > 50_000 { change(frame) } else { Pass::On }
            },
        );
    let bind = Some("127.0.0.9".parse().unwrap());
    let session = connect(&Target { port: Some(port), timeout_ns, bind, ..target }).await.unwrap();
    let from = from.recv_timeout(PATIENCE).unwrap().ip();
    assert_eq!(
        from,
        bind.map_or(LOOPBACK, |address| address.ip()),
        "it connects from the address that it was given"
    );
    let file = session.open(&path("file"), Access::Read).await.unwrap();
    let fault = session.read_at(&file, 0, &mut vec![0; 60_000]).await.unwrap_err();
    assert!(fault.message.starts_with("read `file`: "), "{fault}");
    // It stays of no use, and says so at once.
    if fault.class == Class::Reset {
        assert_eq!(session.list(None).await.unwrap_err().class, Class::Reset);
    }
    drop(session);
    serving.end().await;
    fault
}

/// Cut in the middle, and silent in the middle.
pub async fn survives_a_cut(service: ServiceKind) {
    let fault = read_through(service, 5_000_000_000, |_| Pass::CutInTheMiddle).await;
    assert_eq!(fault.class, Class::Reset, "{fault}");
    let fault = read_through(service, 2_000_000_000, |_| Pass::Silence).await;
    assert_eq!(fault.class, Class::TimedOut, "{fault}");
    let fault = read_through(service, 5_000_000_000, |frame| {
        frame[..64].fill(0xaa);
        Pass::On
    })
    .await;
    assert_eq!(fault.class, Class::Protocol, "{fault}");
}

/// No answer, or nonsense: an error in time, of any kind.
pub async fn survives_nonsense(service: ServiceKind) {
    let brief = |port| Target { timeout_ns: 300_000_000, ..target(service, port) };
    let (port, _) = peer(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let fault = connect(&brief(port)).await.unwrap_err();
    assert_eq!(fault.class, Class::TimedOut, "{fault}");

    // A length for which no host has the memory.
    let (port, _) = peer(|mut stream| {
        let _ = stream.write_all(&[0x7f, 0xff, 0xff, 0xff]);
        while stream.write_all(&[0; 1 << 12]).is_ok() {}
    });
    let fault = connect(&target(service, port)).await.unwrap_err();
    assert!(matches!(fault.class, Class::Protocol | Class::Reset), "{fault:?}");

    for seed in 0..20 {
        let (port, _) = peer(move |mut stream| {
            let mut call = [0; 64];
            let count = stream.read(&mut call).unwrap();
            let length = content(1, seed + 100)[0] as usize * 4;
            let mut answer = content(length + 4, seed);
            answer[..4].copy_from_slice(&(length as u32).to_be_bytes());
            if service == ServiceKind::Nfs {
                answer[0] |= 0x80;
                // As an answer to the call, as far as that goes.
                let given = length.min(4).min(count.saturating_sub(4));
                answer[4..4 + given].copy_from_slice(&call[4..4 + given]);
            }
            let _ = stream.write_all(&answer);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let fault = connect(&brief(port)).await.unwrap_err();
        let expected = [Class::Protocol, Class::TimedOut, Class::Reset, Class::Unsupported];
        let odd = [Class::Login, Class::Missing, Class::Denied];
        assert!(expected.contains(&fault.class) || odd.contains(&fault.class), "{seed}: {fault:?}");
    }
}
