//! What is known of ways: tried by this engine, or by an earlier one of which the driver tells.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Case, ways_of};
use crate::messages::{Candidate, Failure, KnownWays, Outcome, ShareWays, TriedWays};

pub(super) const MOST_KNOWN: usize = 64;
pub(super) const ENGINE: &str = if cfg!(debug_assertions) {
    concat!(env!("CARGO_PKG_VERSION"), " debug")
} else {
    env!("CARGO_PKG_VERSION")
};

/// What was tried, so that it is tried once: the kernel does not change while the host is up.
static KNOWN: Mutex<Memory> = Mutex::new(Memory { found: Vec::new() });

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub candidates: Vec<Candidate>,
    /// Whether two rounds chose the same way, and no other work was in theirs; else an engine of
    /// another series tries anew.
    pub is_sure: bool,
    pub tried_at_s: u64,
    pub earlier: bool,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    found: Vec<(Case, Found)>,
}

pub(super) fn lock() -> MutexGuard<'static, Memory> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Take what earlier engines tried, and tell all that is known then.
///
/// # Errors
/// `ways.invalid` if that is not what an engine tells.
pub(crate) fn share(request: ShareWays) -> Result<Outcome, Failure> {
    let mut memory = lock();
    memory.learn(request.earlier)?;
    Ok(Outcome::KnownWays(KnownWays { ways: memory.known() }))
}

impl Memory {
    pub(super) fn of(&self, case: Case) -> Option<&Found> {
        self.found.iter().find(|(other, _)| *other == case).map(|(_, found)| found)
    }

    pub(super) fn add(&mut self, case: Case, found: Found) {
        if self.found.len() >= MOST_KNOWN {
            self.found.remove(0);
        }
        self.found.push((case, found));
    }

    /// Take what earlier engines of this version tried; what this one has tried stays.
    pub(super) fn learn(&mut self, earlier: Vec<TriedWays>) -> Result<(), Failure> {
        if earlier.len() > MOST_KNOWN {
            let found = earlier.len();
            return Err(invalid(&format!("{found} cases, {MOST_KNOWN} at most are allowed")));
        }
        for ways in earlier.into_iter().filter(|ways| ways.engine == ENGINE) {
            let names: Vec<&str> = ways.candidates.iter().map(|way| way.name.as_str()).collect();
            if names != ways_of(ways.of) {
                return Err(invalid(&format!("ways {names:?}, {:?} is allowed", ways_of(ways.of))));
            }
            let is_number = |value: f64| value.is_finite() && value >= 0.0;
            let mut numbers =
                ways.candidates.iter().flat_map(|way| [way.messages_per_s, way.cpu_ns_per_message]);
            if !numbers.all(is_number) {
                return Err(invalid("a number of a way below 0"));
            }
            let case = Case {
                transport: ways.transport,
                message_bytes: ways.message_bytes as usize,
                receive_buffer_bytes: ways.receive_buffer_bytes,
                of: ways.of,
            };
            if self.of(case).is_none() {
                let found = Found {
                    candidates: ways.candidates,
                    is_sure: ways.is_sure,
                    tried_at_s: ways.tried_at_s,
                    earlier: true,
                };
                self.add(case, found);
            }
        }
        Ok(())
    }

    pub(super) fn known(&self) -> Vec<TriedWays> {
        let all = self.found.iter();
        all.map(|(case, found)| TriedWays {
            engine: ENGINE.into(),
            tried_at_s: found.tried_at_s,
            transport: case.transport,
            // It was a `u32` in the specification.
            message_bytes: u32::try_from(case.message_bytes).unwrap_or(u32::MAX),
            receive_buffer_bytes: case.receive_buffer_bytes,
            of: case.of,
            candidates: found.candidates.clone(),
            is_sure: found.is_sure,
        })
        .collect()
    }
}

fn invalid(why: &str) -> Failure {
    Failure::new("ways.invalid", format!("what earlier engines tried is not what one tells: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Io, Receive, Transport, WaysOf};

    const CASE: Case = Case {
        transport: Transport::Udp,
        message_bytes: 512,
        receive_buffer_bytes: None,
        of: WaysOf::Send { beside: Receive::Poll },
    };

    fn found(single: f64, batch: f64, is_sure: bool) -> Found {
        let way = |name: &str, messages_per_s| Candidate {
            name: name.into(),
            messages_per_s,
            cpu_ns_per_message: 1000.0,
        };
        let candidates = vec![way("single", single), way("batch", batch)];
        Found { candidates, is_sure, tried_at_s: 1_700_000_000, earlier: false }
    }

    fn known(case: Case, of_it: Found) -> Vec<TriedWays> {
        let mut memory = Memory::default();
        memory.add(case, of_it);
        memory.known()
    }

    #[test]
    fn what_one_engine_tells_the_next_knows() {
        let first = known(CASE, found(200.0, 300.0, true));
        assert_eq!(
            (first.len(), first[0].tried_at_s, first[0].message_bytes),
            (1, 1_700_000_000, 512)
        );
        let mut next = Memory::default();
        next.learn(first.clone()).unwrap();
        assert_eq!(next.of(CASE), Some(&Found { earlier: true, ..found(200.0, 300.0, true) }));
        assert_eq!(next.known(), first);
        for other in [
            Case { transport: Transport::Tcp, ..CASE },
            Case { message_bytes: 16_384, ..CASE },
            Case { receive_buffer_bytes: Some(8192), ..CASE },
            Case { of: WaysOf::Send { beside: Receive::Spin }, ..CASE },
            Case { of: WaysOf::Receive { beside: Io::Batch }, ..CASE },
        ] {
            assert_eq!(next.of(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_uncertain_choice_is_reported_as_uncertain() {
        let first = known(CASE, found(200.0, 190.0, false));
        assert!(!first[0].is_sure);
        let mut next = Memory::default();
        next.learn(first.clone()).unwrap();
        assert_eq!(next.of(CASE), Some(&Found { earlier: true, ..found(200.0, 190.0, false) }));
        assert_eq!(next.known(), first);
    }

    #[test]
    fn what_this_engine_has_tried_stays() {
        let mut memory = Memory::default();
        memory.add(CASE, found(500.0, 400.0, true));
        memory.learn(known(CASE, found(200.0, 300.0, true))).unwrap();
        assert_eq!(memory.of(CASE), Some(&found(500.0, 400.0, true)));
    }

    #[test]
    fn what_another_version_tried_is_not_used() {
        let mut ways = known(CASE, found(200.0, 300.0, true));
        ways[0].engine = "0.0.1".into();
        let mut memory = Memory::default();
        memory.learn(ways).unwrap();
        assert_eq!(memory.of(CASE), None);
    }

    #[test]
    fn what_no_engine_tells_is_refused() {
        let changed = |change: fn(&mut TriedWays)| {
            let mut ways = known(CASE, found(200.0, 300.0, true));
            change(&mut ways[0]);
            Memory::default().learn(ways).unwrap_err().message
        };
        let unknown = changed(|ways| ways.candidates[1].name = "spin".into());
        assert!(
            unknown.contains(r#"ways ["single", "spin"], ["single", "batch"] is"#),
            "{unknown}"
        );
        let missing = changed(|ways| drop(ways.candidates.pop()));
        assert!(missing.contains(r#"ways ["single"]"#), "{missing}");
        let below = changed(|ways| ways.candidates[0].messages_per_s = -1.0);
        assert!(below.contains("below 0"), "{below}");
        let most = vec![known(CASE, found(1.0, 2.0, true)).remove(0); MOST_KNOWN];
        assert!(Memory::default().learn(most).is_ok());
        let many = vec![known(CASE, found(1.0, 2.0, true)).remove(0); MOST_KNOWN + 1];
        let refused = Memory::default().learn(many).unwrap_err();
        assert_eq!(refused.code, "ways.invalid");
        assert!(refused.message.contains("65 cases, 64 at most"), "{}", refused.message);
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut memory = Memory::default();
        let numbered = |number| Case { message_bytes: number, ..CASE };
        for number in 1..=MOST_KNOWN + 1 {
            memory.add(numbered(number), found(1.0, 2.0, true));
        }
        assert_eq!((memory.of(numbered(1)), memory.known().len()), (None, MOST_KNOWN));
        assert!(memory.of(numbered(2)).is_some() && memory.of(numbered(MOST_KNOWN + 1)).is_some());
    }
}
