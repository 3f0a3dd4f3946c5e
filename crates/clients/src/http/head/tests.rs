//! Heads written by hand, heads in parts, and data that is not a head.

use proptest::prelude::*;

use super::*;

/// The head in data that arrives in `parts`, and the data after it.
fn read(parts: &[&[u8]], to_head: bool) -> Result<Option<(Head, Vec<u8>)>, String> {
    let (mut inbox, mut heads) = (Inbox::default(), Heads::default());
    let mut found = None;
    for mut part in parts.iter().copied() {
        while !part.is_empty() {
            let room = inbox.room();
            let count = room.len().min(part.len());
            room[..count].copy_from_slice(&part[..count]);
            inbox.put(count);
            part = &part[count..];
            if found.is_some() {
                assert!(part.is_empty(), "there is room for all that comes after it");
                continue;
            }
            found = heads.take(&mut inbox, to_head)?;
        }
    }
    Ok(found.map(|head| (head, inbox.waiting().to_vec())))
}

fn one(text: &str) -> Result<Head, String> {
    read(&[text.as_bytes()], false).map(|found| found.expect("a whole head").0)
}

fn with(fields: &str) -> Result<Head, String> {
    one(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n"))
}

#[test]
fn the_head_decides_how_a_body_ends() {
    let chunked = "Transfer-Encoding: Chunked\r\n";
    let cases = [
        (with(""), Framing::UntilClose),
        (with("Content-Length: 5\r\n"), Framing::Length(5)),
        (with("content-length: 007 \r\nCONTENT-LENGTH: 7, 7\r\n"), Framing::Length(7)),
        (with("Content-Length: 18446744073709551615\r\n"), Framing::Length(u64::MAX)),
        (with(chunked), Framing::Chunked),
        (one("HTTP/1.0 200 OK\r\n\r\n"), Framing::UntilClose),
        (one("HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n"), Framing::Nothing),
        (one("HTTP/1.1 304\r\nContent-Length: 5\r\n\r\n"), Framing::Nothing),
        (one("HTTP/1.1 200 OK\nContent-Length: 1\n\n"), Framing::Length(1)),
    ];
    for (number, (head, framing)) in cases.into_iter().enumerate() {
        assert_eq!(head.unwrap().framing, framing, "{number}");
    }
    let octets = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let (head, _) = read(&[octets], true).unwrap().unwrap();
    assert_eq!(head.framing, Framing::Nothing, "to HEAD");
}

#[test]
fn the_head_decides_whether_the_connection_stays() {
    let cases = [
        (with("Content-Length: 0\r\n"), true),
        (with("Content-Length: 0\r\nConnection: Close\r\n"), false),
        (with("Content-Length: 0\r\nConnection: x, close\r\n"), false),
        (with("Content-Length: 0\r\nConnection: x\r\nConnection: close\r\n"), false),
        (with("Content-Length: 0\r\nConnection: closed\r\n"), true),
        (with("Connection: keep-alive\r\n"), false),
        (one("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), false),
        (one("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n"), true),
    ];
    for (number, (head, keeps_alive)) in cases.into_iter().enumerate() {
        assert_eq!(head.unwrap().keeps_alive, keeps_alive, "{number}");
    }
}

#[test]
fn ambiguous_heads_are_refused() {
    let many = "X: y\r\n".repeat(MAX_FIELDS + 1);
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: \r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: \x0bchunked\r\n",
        "Content-Length : 5\r\n",
        "X: a\r\n folded\r\n",
        " X: a\r\n",
        "X: a\0b\r\n",
        "X: a\rb\r\n",
        "X\r\n",
        ": x\r\n",
        &many,
    ] {
        with(fields).expect_err(fields);
    }
    for head in [
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "SSH-2.0-OpenSSH",
        "<html>",
    ] {
        assert!(read(&[head.as_bytes()], false).is_err(), "{head}");
    }
}

#[test]
fn interim_replies_are_skipped_and_counted() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    let last = "HTTP/1.1 201 Created\r\n\r\n";
    let octets = format!("{}{last}after", interim.repeat(32));
    let (head, left) = read(&[octets.as_bytes()], false).unwrap().unwrap();
    assert_eq!((head.status, &left[..]), (StatusCode::CREATED, &b"after"[..]));
    assert!(head.fields.is_empty());
    let octets = format!("{}{last}", interim.repeat(33));
    read(&[octets.as_bytes()], false).expect_err("too many of them");
}

#[test]
fn heads_are_bounded_in_length() {
    let head = |length: usize| {
        let fixed = "HTTP/1.1 200 OK\r\nX: \r\n\r\n".len();
        format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(length - fixed))
    };
    assert_eq!(one(&head(INBOX_BYTES)).unwrap().status, StatusCode::OK);
    let fault = read(&[head(INBOX_BYTES + 1).as_bytes()], false).unwrap_err();
    assert!(fault.contains("65536"), "{fault}");
}

proptest! {
    #[test]
    fn heads_are_parsed_equally_in_any_split(
        fields in prop::collection::vec(("[A-Za-z][A-Za-z0-9-]{0,9}", "[!-~]{0,20}"), 0..10),
        interim in 0_usize..3,
        after in prop::collection::vec(any::<u8>(), 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        crlf in prop::sample::select(vec!["\r\n", "\n"]),
    ) {
        let mut octets = "HTTP/1.1 102 Processing\r\n\r\n".repeat(interim).into_bytes();
        octets.extend(format!("HTTP/1.1 404 Not Found{crlf}").into_bytes());
        for (name, value) in &fields {
            octets.extend(format!("X-{name}: {value}{crlf}").into_bytes());
        }
        octets.extend(crlf.as_bytes());
        octets.extend(&after);
        let (whole, left) = read(&[&octets], false).unwrap().expect("a whole head");
        prop_assert_eq!(whole.fields.len(), fields.len());
        prop_assert_eq!(&left, &after);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(octets.len() + 1)).collect();
        cuts.extend([0, octets.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &octets[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(&parts, false).unwrap(), Some((whole.clone(), left.clone())));
        let each: Vec<&[u8]> = octets.chunks(1).collect();
        prop_assert_eq!(read(&each, false).unwrap(), Some((whole, left)));
    }

    #[test]
    fn any_bytes_are_handled_without_panic(
        rest in prop::collection::vec(
            prop_oneof![Just(b'\r'), Just(b'\n'), Just(b':'), Just(b' '), any::<u8>()], 0..200,
        ),
        beginning in prop::sample::select(vec!["", "HTTP/1.1 ", "HTTP/1.1 200 OK\r\n"]),
    ) {
        let octets = [beginning.as_bytes(), &rest].concat();
        let each: Vec<&[u8]> = octets.chunks(1).collect();
        let (whole, each) = (read(&[&octets], false), read(&each, false));
        // Data in parts is refused as well, but possibly with another error.
        prop_assert_eq!(whole.is_err(), each.is_err());
        prop_assert_eq!(whole.ok(), each.ok());
    }
}

#[test]
fn a_tls_reply_is_recognised() {
    let alert = b"\x15\x03\x03\x00\x02\x02\x28";
    assert_eq!(read(&[alert], false).map(|_| ()), Err(IN_TLS.to_owned()));
}
