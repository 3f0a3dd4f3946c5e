//! `NetBIOS` name resolution, by broadcast on this host's networks or through a name server (`WINS`).
//!
//! Source: RFC 1002, sections 4.2.12 to 4.2.14, 5.1.1.4 and 5.1.2.2.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use lanlab_wire::nbns::{self, Answer, Query, Question, Response};
use lanlab_wire::netbios_name::{Name, suffix};

#[derive(Debug, Clone, Copy)]
struct Retries {
    queries: u32,
    patience: Duration,
}

/// `BCAST_REQ_RETRY_COUNT` and `BCAST_REQ_RETRY_TIMEOUT` of RFC 1002, section 6.
const OF_ALL: Retries = Retries { queries: 3, patience: Duration::from_millis(250) };
/// Three queries as in the RFC, and 1.5 s as in Windows (`NameSrvQueryTimeout`), where the RFC has 5 s.
const OF_SERVER: Retries = Retries { queries: 3, patience: Duration::from_millis(1500) };
/// Maximum datagrams examined per query, so that foreign ones cannot prolong it.
const MAX_DATAGRAMS: u32 = 256;

impl Display for Retries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "within {} s", (self.patience * self.queries).as_secs_f64())
    }
}

/// Resolve a name to its file server's address by broadcast, within 750 ms. Errors are worded to follow the name.
pub fn look_up(name: &str) -> Result<Ipv4Addr, String> {
    let networks = lanlab_os::broadcast_addresses();
    let networks = networks.map_err(|error| format!("the networks of this host: {error}"))?;
    let places = networks.into_iter().map(|address| SocketAddrV4::new(address, nbns::PORT));
    ask_all(name, &places.collect::<Vec<_>>())
}

/// Resolve a name through a name server, within 4.5 s.
pub fn look_up_at(name: &str, server: Ipv4Addr) -> Result<Ipv4Addr, String> {
    ask_server(name, SocketAddrV4::new(server, nbns::PORT), OF_SERVER)
}

fn ask_all(name: &str, places: &[SocketAddrV4]) -> Result<Ipv4Addr, String> {
    let wanted = named(name)?;
    if places.is_empty() {
        return Err("this host is in no network where all can be asked".to_owned());
    }
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed)?;
    socket.set_broadcast(true).map_err(failed)?;
    let asking = Asking { socket, id: random_id()?, wanted, is_broadcast: true };
    let send = |datagram: &[u8]| {
        let sent: Vec<_> = places
            .iter()
            .map(|place| match asking.socket.send_to(datagram, place) {
                Ok(_) => Ok(()),
                Err(error) => Err(format!("to {place}: {error}")),
            })
            .collect();
        // One network may be down while another works.
        if sent.contains(&Ok(())) { Ok(()) } else { sent.into_iter().collect() }
    };
    match asking.ask(OF_ALL, send)? {
        Some(Said::Address(address)) => Ok(address),
        Some(Said::Unknown(_)) | None => Err(format!("no host of its networks answered {OF_ALL}")),
    }
}

fn ask_server(name: &str, server: SocketAddrV4, retries: Retries) -> Result<Ipv4Addr, String> {
    let wanted = named(name)?;
    let of_server = |error: io::Error| format!("WINS server {}: {error}", server.ip());
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed)?;
    // Connect, so that only the server's replies are received, and a closed port is an error.
    socket.connect(server).map_err(of_server)?;
    let asking = Asking { socket, id: random_id()?, wanted, is_broadcast: false };
    match asking
        .ask(retries, |datagram| asking.socket.send(datagram).map(drop).map_err(of_server))?
    {
        Some(Said::Address(address)) => Ok(address),
        Some(Said::Unknown(nbns::NAME_ERROR)) => {
            Err(format!("WINS server {} does not know it", server.ip()))
        }
        Some(Said::Unknown(code)) => {
            Err(format!("WINS server {} refused the query with code {code}", server.ip()))
        }
        None => Err(format!("WINS server {} did not answer {retries}", server.ip())),
    }
}

fn named(name: &str) -> Result<Name, String> {
    Name::new(name, suffix::SERVER).map_err(|_| "allowed: 1 to 15 characters of ASCII".to_owned())
}

fn random_id() -> Result<u16, String> {
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|error| format!("random octets: {error}"))?;
    Ok(u16::from_be_bytes(id))
}

fn failed(error: impl Display) -> String {
    format!("UDP: {error}")
}

#[derive(Debug, PartialEq, Eq)]
enum Said {
    Address(Ipv4Addr),
    Unknown(u8),
}

struct Asking {
    socket: UdpSocket,
    id: u16,
    wanted: Name,
    is_broadcast: bool,
}

impl Asking {
    fn ask(
        &self,
        retries: Retries,
        mut send: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Option<Said>, String> {
        let mut datagram = Vec::new();
        let (id, name, broadcast) = (self.id, self.wanted, self.is_broadcast);
        let question = Question::Addresses;
        Query { id, broadcast, recursion_desired: true, question, name }.emit(&mut datagram);
        for _ in 0..retries.queries {
            send(&datagram)?;
            if let Some(said) = self.wait(retries.patience)? {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }

    fn wait(&self, patience: Duration) -> Result<Option<Said>, String> {
        let until = Instant::now() + patience;
        let mut datagram = [0; nbns::MAX_DATAGRAM_LEN];
        for _ in 0..MAX_DATAGRAMS {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.socket.set_read_timeout(Some(left)).map_err(failed)?;
            let (len, from) = match self.socket.recv_from(&mut datagram) {
                Ok(received) => received,
                // A host may report that it lacks the service; others may have it.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && self.is_broadcast => {
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    let server = self.socket.peer_addr().map_err(failed)?;
                    return Err(format!(
                        "WINS server {}: nothing answers at its port",
                        server.ip()
                    ));
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    break;
                }
                Err(error) => return Err(failed(error)),
            };
            match answer(&datagram[..len], from, self.id, self.wanted) {
                // Other hosts may still reply positively.
                Some(Said::Unknown(_)) if self.is_broadcast => {}
                Some(said) => return Ok(Some(said)),
                None => {}
            }
        }
        Ok(None)
    }
}

/// The result of a reply to this query. If a host has several addresses, use the one it replied from, which is
/// reachable.
fn answer(datagram: &[u8], from: SocketAddr, id: u16, wanted: Name) -> Option<Said> {
    let response = Response::parse(datagram).ok()?;
    if response.id != id || response.name != wanted || from.port() == 0 {
        return None;
    }
    let addresses = match response.answer {
        Answer::Addresses { addresses, .. } => addresses,
        Answer::Negative { code } => return Some(Said::Unknown(code)),
        Answer::Status { .. } => return None,
    };
    let all = || addresses.iter().filter(|(flags, _)| flags & nbns::GROUP == 0);
    let found = all().find(|(_, address)| IpAddr::V4(*address) == from.ip());
    found.or_else(|| all().next()).map(|(_, address)| Said::Address(address))
}

#[cfg(test)]
#[path = "../../wire/tests/support/name_answers.rs"]
mod name_answers;

#[cfg(test)]
mod tests {
    use super::name_answers::{emit_addresses, emit_negative};
    use super::*;

    const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

    /// A host that answers queries with `respond` until the test's socket is closed.
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
        emit_addresses(query, 300, addresses, &mut answer);
        answer
    }

    #[test]
    fn a_host_that_answers_is_found_also_if_the_first_query_is_lost() {
        let (place, thread) = responder(|query, asked| {
            assert_eq!((query.name.text().as_str(), query.name.suffix()), ("OLD-BOX", 0x20));
            assert!(query.broadcast);
            if asked == 1 { Vec::new() } else { vec![positive(query, &[(0, OTHER)])] }
        });
        assert_eq!(ask_all("old-box", &[place]), Ok(OTHER));
        assert_eq!(thread.join().unwrap(), 2);
    }

    #[test]
    fn the_answering_address_is_used_and_group_addresses_are_not() {
        let (place, _thread) = responder(|query, _| {
            let group = (nbns::GROUP, Ipv4Addr::new(192, 0, 2, 9));
            vec![positive(query, &[group, (0, OTHER), (0, Ipv4Addr::LOCALHOST)])]
        });
        assert_eq!(ask_all("box", &[place]), Ok(Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn foreign_malformed_and_negative_answers_give_no_address() {
        let (place, thread) = responder(|query, _| {
            let other = Query { id: query.id.wrapping_add(1), ..*query };
            let name = Query { name: Name::new("OTHER", suffix::SERVER).unwrap(), ..*query };
            let mut negative = Vec::new();
            emit_negative(query, nbns::NAME_ERROR, &mut negative);
            vec![
                positive(&other, &[(0, OTHER)]),
                positive(&name, &[(0, OTHER)]),
                positive(query, &[(nbns::GROUP, OTHER)]),
                negative,
                b"nonsense".to_vec(),
            ]
        });
        let began = Instant::now();
        let why = ask_all("box", &[place]).unwrap_err();
        assert_eq!(why, "no host of its networks answered within 0.75 s");
        assert!(began.elapsed() >= OF_ALL.patience * OF_ALL.queries);
        assert_eq!(thread.join().unwrap(), OF_ALL.queries);
    }

    #[test]
    fn invalid_names_are_not_queried() {
        for name in ["a-name-of-sixteen", "größe"] {
            let why = ask_all(name, &[SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9)]).unwrap_err();
            assert!(why.starts_with("allowed: 1 to 15"), "{why}");
        }
        assert!(ask_all("box", &[]).unwrap_err().contains("in no network"));
    }

    const SOON: Retries = Retries { patience: Duration::from_millis(20), ..OF_SERVER };

    #[test]
    fn a_configured_name_server_is_the_only_one_queried() {
        let (place, thread) = responder(|query, asked| {
            assert!(!query.broadcast && query.recursion_desired);
            assert_eq!((query.question, query.name.suffix()), (Question::Addresses, 0x20));
            if asked == 1 { Vec::new() } else { vec![positive(query, &[(0, OTHER)])] }
        });
        let patient = Retries { patience: Duration::from_millis(300), ..OF_SERVER };
        assert_eq!(ask_server("old-box", place, patient), Ok(OTHER));
        assert!(thread.join().unwrap() >= 2);
    }

    #[test]
    fn a_negative_answer_ends_the_queries() {
        for (code, said) in [
            (nbns::NAME_ERROR, "WINS server 127.0.0.1 does not know it"),
            (5, "WINS server 127.0.0.1 refused the query with code 5"),
        ] {
            let (place, thread) = responder(move |query, _| {
                let mut negative = Vec::new();
                emit_negative(query, code, &mut negative);
                vec![negative]
            });
            assert_eq!(ask_server("box", place, OF_SERVER).unwrap_err(), said);
            assert_eq!(thread.join().unwrap(), 1);
        }
    }

    #[test]
    fn unrelated_packets_do_not_count_as_an_answer() {
        let (place, thread) = responder(|query, _| {
            let other = Query { id: query.id ^ 0x8000, ..*query };
            let name = Query { name: Name::new("OTHER", suffix::SERVER).unwrap(), ..*query };
            let mut negative = Vec::new();
            emit_negative(&other, nbns::NAME_ERROR, &mut negative);
            vec![positive(&other, &[(0, OTHER)]), positive(&name, &[(0, OTHER)]), negative]
        });
        let why = ask_server("box", place, SOON).unwrap_err();
        assert_eq!(why, "WINS server 127.0.0.1 did not answer within 0.06 s");
        assert_eq!(thread.join().unwrap(), SOON.queries);
    }

    #[test]
    fn a_flood_of_unrelated_answers_does_not_extend_the_query() {
        let (place, thread) = responder(|query, _| {
            let other = Query { id: query.id ^ 1, ..*query };
            vec![positive(&other, &[(0, OTHER)]); 2 * MAX_DATAGRAMS as usize]
        });
        assert!(ask_server("box", place, SOON).unwrap_err().contains("did not answer"));
        assert!(thread.join().unwrap() <= SOON.queries);
    }

    #[test]
    fn a_host_without_a_name_server_fails_at_once() {
        let unused = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let SocketAddr::V4(place) = unused else { panic!("IPv4") };
        let why = ask_server("box", place, OF_SERVER).unwrap_err();
        assert_eq!(why, "WINS server 127.0.0.1: nothing answers at its port");
    }

    #[test]
    fn answers_from_other_hosts_are_ignored() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let SocketAddr::V4(place) = server.local_addr().unwrap() else { panic!("IPv4") };
        let thread = std::thread::spawn(move || {
            let (other, mut datagram) =
                (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), [0; 600]);
            let (len, from) = server.recv_from(&mut datagram).unwrap();
            let query = Query::parse(&datagram[..len]).unwrap();
            other.send_to(&positive(&query, &[(0, Ipv4Addr::LOCALHOST)]), from).unwrap();
            server.send_to(&positive(&query, &[(0, OTHER)]), from).unwrap();
        });
        assert_eq!(ask_server("box", place, OF_SERVER), Ok(OTHER));
        thread.join().unwrap();
    }
}
