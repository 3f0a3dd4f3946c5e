//! Which packets a responder answers: never those of another responder, or one forged packet would start an endless
//! exchange.

use lanlab_units::Instant;
use lanlab_wire::ipx::socket;
use lanlab_wire::ncp::watchdog;
use lanlab_wire::xns;

/// Maximum answers of one kind per second: more than any segment needs.
const MOST_IN_SECOND: u32 = 100;
const SECOND_NS: u64 = 1_000_000_000;
const LAST_WELL_KNOWN: u16 = 3_000;
/// Echo socket of NetWare servers.
pub(crate) const ECHO_SOCKET: u16 = 0x4002;

/// Whether a program at an IPX socket answers queries. NetWare's watchdog and echo sockets count as
/// dynamic ones.
const fn answers_on_ipx(from: u16) -> bool {
    from < socket::FIRST_DYNAMIC && from != socket::SMB_CLIENT || from > socket::LAST_DYNAMIC
}

/// Whether to answer an IPX packet from this socket if replies resemble queries or are unicast.
pub(crate) const fn may_answer_on_ipx(from: u16, is_to_all: bool) -> bool {
    !is_to_all && !answers_on_ipx(from)
}

pub(crate) const fn may_echo_on_ipx(from: u16, is_to_all: bool) -> bool {
    may_answer_on_ipx(from, is_to_all) && !matches!(from, ECHO_SOCKET | watchdog::SERVER_SOCKET)
}

/// Whether to answer a routing or service query, whose replies have another form.
pub(crate) const fn may_advertise(from: u16, own: u16) -> bool {
    from == own || !answers_on_ipx(from)
}

/// Whether to answer an XNS datagram from this socket if replies resemble queries.
pub(crate) const fn may_answer_on_xns(from: u16) -> bool {
    from > LAST_WELL_KNOWN && from != xns::socket::SMB
}

#[derive(Debug, Default)]
pub(crate) struct Allowance {
    since: Option<Instant>,
    given: u32,
}

impl Allowance {
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now.nanos_since(since) >= SECOND_NS) {
            (self.since, self.given) = (Some(now), 0);
        }
        self.given += 1;
        self.given <= MOST_IN_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_a_hundred_answers_are_sent_per_second() {
        let mut allowance = Allowance::default();
        for second in [0, 1, 9] {
            let now = Instant::from_nanos(second * SECOND_NS);
            let given = (0..1_000).filter(|_| allowance.take(now)).count();
            assert_eq!(given, 100);
        }
    }

    /// NetWare 4.x SDK: programs get 4000h to 7FFFh dynamically; shells query from there.
    #[test]
    fn only_client_queries_are_answered() {
        for client in [0x4000, 0x4001, 0x4002, 0x4003, 0x7fff, socket::SMB_CLIENT] {
            assert!(may_answer_on_ipx(client, false) && !may_answer_on_ipx(client, true));
            assert!(may_advertise(client, socket::SAP));
        }
        for server in [1, 2, 0x451, 0x452, 0x453, 0x455, 0x456, 0x550, 0x551, 0x8000, 0xffff] {
            assert!(!may_answer_on_ipx(server, false) && !may_echo_on_ipx(server, false));
            assert_eq!(may_advertise(server, socket::SAP), server == socket::SAP);
        }
        assert!(may_echo_on_ipx(0x4003, false));
        assert!(![0x4001, 0x4002].iter().any(|&from| may_echo_on_ipx(from, false)));
        assert_eq!(
            [1, 2, 3_000, 3_001, 0xbbc].map(may_answer_on_xns),
            [false, false, false, true, false]
        );
    }
}
