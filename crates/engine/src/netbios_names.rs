//! The address of a host by its `NetBIOS` name: all hosts of this host's networks are asked, and the one
//! that has the name answers.
//!
//! Source: RFC 1002, sections 4.2.12, 4.2.13 and 5.1.1.4: three queries, 250 ms apart.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use lanlab_wire::nbns::{self, Answer, Query, Question, Response};
use lanlab_wire::netbios_name::{Name, suffix};

/// How often is asked, and how long is waited each time: `BCAST_REQ_RETRY_COUNT` and
/// `BCAST_REQ_RETRY_TIMEOUT` of RFC 1002, section 6.
const QUERIES: u32 = 3;
const PATIENCE: Duration = Duration::from_millis(250);
/// Datagrams that are looked at for each query, so that others cannot keep this up.
const MAX_DATAGRAMS: u32 = 256;

/// The address of the file server of a name, within 750 ms. Why not, in words that follow the name.
pub fn look_up(name: &str) -> Result<Ipv4Addr, String> {
    let networks = lanlab_os::broadcast_addresses();
    let networks = networks.map_err(|error| format!("the networks of this host: {error}"))?;
    let places = networks.into_iter().map(|address| SocketAddrV4::new(address, nbns::PORT));
    ask(name, &places.collect::<Vec<_>>())
}

fn ask(name: &str, places: &[SocketAddrV4]) -> Result<Ipv4Addr, String> {
    let wanted = Name::new(name, suffix::SERVER)
        .map_err(|_| "allowed: 1 to 15 characters of ASCII".to_owned())?;
    if places.is_empty() {
        return Err("this host is in no network where all can be asked".to_owned());
    }
    let failed = |error: std::io::Error| format!("UDP: {error}");
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed)?;
    socket.set_broadcast(true).map_err(failed)?;
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|error| format!("random octets: {error}"))?;
    let id = u16::from_be_bytes(id);
    let mut datagram = Vec::new();
    let question = Question::Addresses;
    Query { id, broadcast: true, recursion_desired: true, question, name: wanted }
        .emit(&mut datagram);
    for _ in 0..QUERIES {
        let mut unsent = None;
        let sent = places.iter().filter(|place| match socket.send_to(&datagram, place) {
            Ok(_) => true,
            Err(error) => {
                unsent = Some(format!("to {place}: {error}"));
                false
            }
        });
        if sent.count() == 0 {
            return Err(unsent.unwrap_or_default());
        }
        if let Some(address) = wait(&socket, id, wanted).map_err(failed)? {
            return Ok(address);
        }
    }
    let waited_s = (PATIENCE * QUERIES).as_secs_f64();
    Err(format!("no host of its networks answered within {waited_s} s"))
}

/// The address that an answer to the query says, if one comes in time.
fn wait(socket: &UdpSocket, id: u16, wanted: Name) -> std::io::Result<Option<Ipv4Addr>> {
    let until = Instant::now() + PATIENCE;
    let mut datagram = [0; nbns::MAX_DATAGRAM_LEN];
    for _ in 0..MAX_DATAGRAMS {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        socket.set_read_timeout(Some(left))?;
        let (len, from) = match socket.recv_from(&mut datagram) {
            Ok(received) => received,
            // A host that has no such service may say so; others may have it.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => return Err(error),
        };
        if let Some(address) = answer(&datagram[..len], from, id, wanted) {
            return Ok(Some(address));
        }
    }
    Ok(None)
}

/// The address of a positive answer to this query. A host may have several: the one that it answers
/// from can be reached.
fn answer(datagram: &[u8], from: SocketAddr, id: u16, wanted: Name) -> Option<Ipv4Addr> {
    let response = Response::parse(datagram).ok()?;
    let Answer::Addresses { addresses, .. } = response.answer else { return None };
    if response.id != id || response.name != wanted || from.port() == 0 {
        return None;
    }
    let all = || addresses.iter().filter(|(flags, _)| flags & nbns::GROUP == 0);
    let found = all().find(|(_, address)| IpAddr::V4(*address) == from.ip());
    found.or_else(|| all().next()).map(|(_, address)| address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

    /// A host that answers queries as `respond` says, until the socket of the test is closed.
    fn responder(
        respond: impl Fn(&Query, u32) -> Vec<Vec<u8>> + Send + 'static,
    ) -> (SocketAddrV4, std::thread::JoinHandle<u32>) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let SocketAddr::V4(place) = socket.local_addr().unwrap() else { panic!("IPv4") };
        let thread = std::thread::spawn(move || {
            let (mut asked, mut datagram) = (0, [0; 600]);
            while let Ok((len, from)) = socket.recv_from(&mut datagram) {
                let query = Query::parse(&datagram[..len]).unwrap();
                asked += 1;
                for answer in respond(&query, asked) {
                    socket.send_to(&answer, from).unwrap();
                }
            }
            asked
        });
        (place, thread)
    }

    fn positive(query: &Query, addresses: &[(u16, Ipv4Addr)]) -> Vec<u8> {
        let mut answer = Vec::new();
        nbns::emit_addresses(query, 300, addresses, &mut answer);
        answer
    }

    #[test]
    fn a_host_that_answers_is_found_also_if_the_first_query_is_lost() {
        let (place, thread) = responder(|query, asked| {
            assert_eq!((query.name.text().as_str(), query.name.suffix()), ("OLD-BOX", 0x20));
            assert!(query.broadcast);
            if asked == 1 { Vec::new() } else { vec![positive(query, &[(0, OTHER)])] }
        });
        assert_eq!(ask("old-box", &[place]), Ok(OTHER));
        assert_eq!(thread.join().unwrap(), 2);
    }

    #[test]
    fn of_several_addresses_the_one_that_answers_is_taken_and_none_of_a_group() {
        let (place, _thread) = responder(|query, _| {
            let group = (nbns::GROUP, Ipv4Addr::new(192, 0, 2, 9));
            vec![positive(query, &[group, (0, OTHER), (0, Ipv4Addr::LOCALHOST)])]
        });
        assert_eq!(ask("box", &[place]), Ok(Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn answers_to_others_nonsense_and_refusals_are_no_address() {
        let (place, thread) = responder(|query, _| {
            let other = Query { id: query.id.wrapping_add(1), ..*query };
            let name = Query { name: Name::new("OTHER", suffix::SERVER).unwrap(), ..*query };
            let mut negative = Vec::new();
            nbns::emit_negative(query, nbns::NAME_ERROR, &mut negative);
            vec![
                positive(&other, &[(0, OTHER)]),
                positive(&name, &[(0, OTHER)]),
                positive(query, &[(nbns::GROUP, OTHER)]),
                negative,
                b"nonsense".to_vec(),
            ]
        });
        let began = Instant::now();
        let why = ask("box", &[place]).unwrap_err();
        assert_eq!(why, "no host of its networks answered within 0.75 s");
        assert!(began.elapsed() >= PATIENCE * QUERIES);
        assert_eq!(thread.join().unwrap(), QUERIES);
    }

    #[test]
    fn what_cannot_be_a_name_is_not_asked_for() {
        for name in ["a-name-of-sixteen", "größe"] {
            let why = ask(name, &[SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9)]).unwrap_err();
            assert!(why.starts_with("allowed: 1 to 15"), "{why}");
        }
        assert!(ask("box", &[]).unwrap_err().contains("in no network"));
    }
}
