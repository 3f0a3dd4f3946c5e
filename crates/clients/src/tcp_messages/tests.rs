use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;

use tokio::net::TcpListener;

use super::*;

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (near, far) = tokio::join!(TcpStream::connect(address), listener.accept());
    (near.unwrap(), far.unwrap().0)
}

async fn received(port: &mut Messages) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    poll_fn(|cx| port.poll_receive(cx, &mut message)).await.map(|()| message)
}

async fn answered(octets: &[u8]) -> Result<()> {
    let (mut near, mut far) = pair().await;
    let server = async {
        let mut asked = [0; 72];
        far.read_exact(&mut asked).await.unwrap();
        // Length 68, then both names of 32 letters each, one letter per half byte.
        assert_eq!(asked[..5], [0x81, 0, 0, 68, 32]);
        assert_eq!(&asked[5..37], b"CKFDENECFDEFFCFGEFFCCACACACACACA");
        far.write_all(octets).await.unwrap();
        drop(far);
    };
    let called = Name::new(ANY_SERVER, suffix::SERVER).unwrap();
    tokio::join!(request(&mut near, called, "session request"), server).0
}

#[tokio::test]
async fn session_requests_carry_both_names() {
    answered(&[0x82, 0, 0, 0]).await.unwrap();
    let refused = answered(&[0x83, 0, 0, 1, 0x82]).await.unwrap_err();
    assert_eq!(refused.class, Class::Refused);
    assert!(refused.message.contains("CalledNameNotPresent"), "{refused}");
    let elsewhere = answered(&[0x84, 0, 0, 6, 10, 0, 0, 9, 0, 139]).await.unwrap_err();
    assert_eq!(elsewhere.hint.unwrap(), "connect to 10.0.0.9, port 139");
    for (octets, class) in [
        (&[0x82, 0, 0][..], Class::Reset),
        (&[0x83, 0, 0, 200][..], Class::Protocol),
        (&[0x00, 0, 0, 1, 5][..], Class::Protocol),
        (b"HTTP", Class::Protocol),
    ] {
        assert_eq!(answered(octets).await.unwrap_err().class, class, "{octets:?}");
    }
}

#[tokio::test]
async fn servers_are_called_by_their_netbios_name_if_valid() {
    for (name, expected) in [
        ("oldbox", "OLDBOX"),
        ("oldbox.example.org", "OLDBOX"),
        ("192.168.7.2", ANY_SERVER),
        ("a-name-that-is-too-long", ANY_SERVER),
    ] {
        let target = serde_json::json!({ "service": "smb1", "server_name": name });
        let target: Target = serde_json::from_value(target).unwrap();
        assert_eq!(called(&target).text(), expected);
    }
}

#[tokio::test]
async fn messages_arrive_whole_in_any_split() {
    let (near, mut far) = pair().await;
    let long = vec![7; 100_000];
    let mut octets = vec![0x85, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3, 0x85, 0, 0, 0, 0, 1, 0x86, 0xa0];
    octets.extend_from_slice(&long);
    octets.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1, 9]);
    let writer = async {
        for part in octets.chunks(4_999).flat_map(|part| part.chunks(part.len().min(7) * 311)) {
            far.write_all(part).await.unwrap();
            tokio::task::yield_now().await;
        }
        drop(far);
    };
    let mut port = over(near, Framing::Session);
    let reader = async {
        let mut found = Vec::new();
        while let Ok(message) = received(&mut port).await {
            found.push(message);
        }
        found
    };
    let (found, ()) = tokio::join!(reader, writer);
    assert_eq!(found, [vec![1, 2, 3], long, vec![], vec![9]]);
}

#[tokio::test]
async fn oversized_and_malformed_messages_are_refused_at_once() {
    for octets in [[0, 2, 0, 0], [0, 0xff, 0xff, 0xff], [0x81, 0, 0, 68], *b"SSH-"] {
        let (near, mut far) = pair().await;
        far.write_all(&octets).await.unwrap();
        let mut port = over(near, Framing::Direct);
        let error = received(&mut port).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{octets:?}: {error}");
    }
}

#[tokio::test]
async fn messages_are_sent_whole_to_slow_readers() {
    let (near, mut far) = pair().await;
    let message: Vec<u8> = (0..1_000_000).map(|index: u32| index as u8).collect();
    let mut port = over(near, Framing::Direct);
    let sent = async {
        poll_fn(|cx| port.poll_send(cx, [&message, &[]])).await.unwrap();
        poll_fn(|cx| port.poll_send(cx, [b"end", &[]])).await.unwrap();
    };
    let mut octets = vec![0; 4 + message.len() + 7];
    let taken = far.read_exact(&mut octets);
    tokio::join!(sent, async { taken.await.unwrap() });
    assert_eq!(octets[..4], [0, 0x0f, 0x42, 0x40]);
    assert!(octets[4..4 + message.len()] == message);
    assert_eq!(&octets[4 + message.len()..], b"\0\0\0\x03end");
}
