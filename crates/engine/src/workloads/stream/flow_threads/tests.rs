use super::*;

/// Takes its turns at every millisecond of its schedule, and notes them.
struct Ticking {
    next: Instant,
    left: u32,
}

impl Flow for Ticking {
    type Shared = Vec<Instant>;

    fn turn(&mut self, now: Instant, turns: &mut Vec<Instant>) -> Result<Turn, Failure> {
        if self.left == 0 {
            return Ok(Turn::Over);
        }
        if now < self.next {
            return Ok(Turn::Wait { until: self.next, exact: true });
        }
        turns.push(self.next);
        self.left -= 1;
        self.next = self.next.plus_nanos(1_000_000);
        Ok(Turn::Again)
    }

    fn watch(&self, _: &Readiness, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn forget(&self, _: &Readiness) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn flows_come_back_in_their_order() {
    assert_eq!(in_order(vec![vec![0, 3, 6], vec![1, 4], vec![2, 5]]), [0, 1, 2, 3, 4, 5, 6]);
    assert!(in_order(Vec::<Vec<u8>>::new()).is_empty());
}

#[test]
fn flows_of_one_thread_take_turns_by_their_schedules() {
    let start = os::monotonic();
    let mut flows: Vec<Ticking> = (0..4_u64)
        .map(|index| Ticking { next: start.plus_nanos(250_000 * index), left: 5 })
        .collect();
    let mut turns = Vec::new();
    drive_senders(&mut flows, &mut turns).unwrap();
    assert_eq!(turns.len(), 20);
    assert!(turns.is_sorted(), "{turns:?}");
}
