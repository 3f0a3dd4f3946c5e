//! Whole answers over a stream that delivers them in given parts.

use proptest::prelude::*;

use super::*;
use lanlab_connections::scripted::Pieces;

use crate::fuzz_checks::http;

/// The status and the body of an answer that arrives in `parts`, read `read_bytes` at a time.
fn read(parts: &[&[u8]], read_bytes: usize) -> Result<(u16, Vec<u8>)> {
    let peer = Pieces::awaited(parts);
    let work = async {
        let http = http()?;
        let connection = Connection::new(Box::new(peer));
        let mut answer = http.answered("GET x", connection).await?;
        let (mut body, mut buffer) = (Vec::new(), vec![0; read_bytes]);
        loop {
            match answer.read(&http, "GET x", &mut buffer).await? {
                0 => break,
                count => body.extend_from_slice(&buffer[..count]),
            }
        }
        let status = answer.status().as_u16();
        answer.done(&http, "GET x").await?;
        Ok((status, body))
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn a_status_comes_with_its_meaning_and_a_hint() {
    for (status, class, hint) in [
        (302, Class::Protocol, "give its new address"),
        (405, Class::Unsupported, "a directory where the server allows writing"),
        (502, Class::Protocol, "a proxy does not reach the server"),
        (503, Class::Refused, "the server is overloaded"),
        (404, Class::Missing, ""),
    ] {
        let fault = refusal("GET x", StatusCode::from_u16(status).unwrap(), b"");
        let found = fault.hint.unwrap_or_default();
        assert_eq!(fault.class, class, "{status}");
        assert!(found.contains(hint) && found.is_empty() == hint.is_empty(), "{status}: {found}");
    }
}

fn split<'a>(octets: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(octets.len() + 1)).collect();
    cuts.extend([0, octets.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| &octets[cut[0]..cut[1]]).collect()
}

#[test]
fn replies_with_a_wrong_length_are_refused() {
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Class::Reset),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcdef", Class::Length),
        ("HTTP/1.1 204 None\r\n\r\nabc", Class::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Class::Reset),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", Class::Reset),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", Class::Reset),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nabc", Class::Length),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", Class::Protocol),
        ("HTTP/1.1 200 OK\r\nContent-Le", Class::Reset),
        ("", Class::Reset),
        ("220 ready\r\n", Class::Protocol),
    ];
    for (octets, class) in cases {
        let fault = read(&[octets.as_bytes()], 100).expect_err(octets);
        assert_eq!(fault.class, class, "{octets}: {fault}");
        assert!(fault.message.contains("GET x"), "{fault}");
    }
    let until_close = b"HTTP/1.0 200 OK\r\n\r\nabc";
    assert_eq!(read(&[until_close], 2).unwrap(), (200, b"abc".to_vec()));
}

proptest! {
    #[test]
    fn bodies_are_read_equally_in_any_split(
        body in prop::collection::vec(any::<u8>(), 0..300),
        framing in 0_u8..3,
        chunk_bytes in 1_usize..100,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        read_bytes in 1_usize..200,
    ) {
        let mut octets = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n".to_vec();
        match framing {
            0 => {
                octets.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
                octets.extend(&body);
            }
            1 => {
                octets.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                for chunk in body.chunks(chunk_bytes) {
                    octets.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                    octets.extend(chunk);
                    octets.extend(b"\r\n");
                }
                octets.extend(b"0\r\n\r\n");
            }
            _ => {
                octets.extend(b"\r\n");
                octets.extend(&body);
            }
        }
        prop_assert_eq!(read(&split(&octets, &cuts), read_bytes).unwrap(), (200, body));
    }

    #[test]
    fn any_bytes_are_handled_without_panic_or_growth(
        rest in prop::collection::vec(
            prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'4'), any::<u8>()], 0..300,
        ),
        beginning in prop::sample::select(vec![
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\n",
        ]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let octets = [beginning.as_bytes(), &rest].concat();
        if let Ok((_, body)) = read(&split(&octets, &cuts), 64) {
            prop_assert!(body.len() <= octets.len());
        }
    }
}
