//! How two engines agree on a session.

use std::collections::HashSet;
use std::net::SocketAddr;

use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};
use lanlab_workloads::handshake::{Acceptor, Initiator, InitiatorState, SETUP_NS};

use super::Feed;

const TOKEN: Token = Token([7; 16]);
const SECRET: u64 = 0x1234_5678_9abc_def0;

fn kind(feed: &mut Feed, cookies: &[u64]) -> Kind {
    let which = feed.u8() % 9;
    let first = match feed.u8() {
        // One that was given, perhaps to somebody else.
        octet @ 0..=127 if !cookies.is_empty() => cookies[octet as usize % cookies.len()],
        _ => feed.number(),
    };
    let second = feed.number();
    match which {
        0 => Kind::Hello { nonce: first },
        1 => Kind::Challenge { cookie: first },
        2 => Kind::Prove { cookie: first, nonce: second },
        3 => Kind::Accept { nonce: first },
        4 => Kind::Mark { first_measured: first },
        5 => Kind::Marked { first_measured: first },
        6 => Kind::Alive { received_messages: first },
        7 => Kind::Finish { first_measured: first, sent_messages: second },
        _ => Kind::Finished { received_messages: first },
    }
}

/// Any sequence of messages, from any addresses, at any times, to both ends. To an address goes less
/// than came from there; a peer is accepted only if it returns the cookie that was sent to this very
/// address; an end that connects sends no more than its few questions and accepts only a peer that
/// knows its number.
///
/// # Panics
/// If that does not hold.
pub fn session_machines(octets: &[u8]) {
    let mut feed = Feed::new(octets);
    let nonce = feed.number();
    let mut now = Instant::ZERO;
    let mut acceptor = Acceptor::new(TOKEN, 0, SECRET);
    let mut initiator = Initiator::new(TOKEN, 0, nonce, now);
    let mut cookies = Vec::new();
    let mut given: HashSet<(SocketAddr, u64)> = HashSet::new();
    // Octets from and to each of 16 ports.
    let mut traffic = [(0_usize, 0_usize); 16];
    let (mut answers, mut questions) = (0_u64, 0_u64);
    while !feed.is_empty() {
        now = now.plus_nanos(match feed.u8() {
            octet @ 0..=127 => u64::from(octet) * 1_000_000,
            octet @ 128..=250 => u64::from(octet),
            _ => feed.number(),
        });
        while let Some(question) = initiator.poll_transmit(now) {
            questions += 1;
            assert!(question.emit().len() == 64 && question.token.matches(&TOKEN));
        }
        initiator.handle_timeout(now);
        let port = feed.u8() % 16;
        let from = SocketAddr::from(([10, 0, 0, 1], u16::from(port)));
        let message = Message {
            token: if feed.u8() < 240 { TOKEN } else { Token([8; 16]) },
            flow: u16::from(feed.u8() > 240),
            kind: kind(&mut feed, &cookies),
        };
        let ours = message.token.matches(&TOKEN) && message.flow == 0;
        let before = acceptor.peer();
        let answer = acceptor.handle(&message, from, now);
        let counts = &mut traffic[usize::from(port)];
        counts.0 += message.emit().len();
        if let Some(answer) = answer {
            assert!(ours);
            answers += 1;
            counts.1 += answer.emit().len();
            assert!(answer.emit().len() < message.emit().len());
            match answer.kind {
                Kind::Challenge { cookie } => {
                    assert_eq!(before, None);
                    cookies.push(cookie);
                    given.insert((from, cookie));
                }
                Kind::Accept { .. } => assert_eq!(acceptor.peer(), Some(from)),
                other => panic!("{other:?} is no answer of an acceptor"),
            }
        }
        assert!(counts.1 < counts.0, "{counts:?}");
        if before.is_none() && acceptor.peer().is_some() {
            let Kind::Prove { cookie, .. } = message.kind else {
                panic!("{message:?} is no proof")
            };
            assert!(given.contains(&(from, cookie)), "the cookie went there");
        }
        assert!(before.is_none() || acceptor.peer() == before, "nobody takes it over");
        let asking = initiator.state == InitiatorState::Asking;
        initiator.handle(&message, now);
        if asking && let InitiatorState::Accepted { .. } = initiator.state {
            // The low bits number the attempt.
            let Kind::Accept { nonce: answered } = message.kind else {
                panic!("{message:?} accepts nothing")
            };
            assert!(ours && answered >> 12 == nonce >> 12);
        }
    }
    // Twenty at once, then one in ten milliseconds.
    assert!(answers <= 20 + now.as_nanos() / 10_000_000, "{answers} answers by {now}");
    assert!(questions <= 3 + SETUP_NS / 50_000_000, "{questions} questions");
}
