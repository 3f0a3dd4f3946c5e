use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;

use super::check;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
    Nothing,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        match self {
            Self::Read => epoll::EventFlags::IN,
            Self::Write => epoll::EventFlags::OUT | epoll::EventFlags::ONESHOT,
            Self::Nothing => epoll::EventFlags::empty(),
        }
    }
}

/// Sockets identified by a key, and which of them are ready (epoll(7)).
#[derive(Debug)]
pub struct Readiness {
    descriptor: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Readiness {
    pub fn new(capacity: usize) -> io::Result<Self> {
        let descriptor = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { descriptor, events: vec![libc::epoll_event { events: 0, u64: 0 }; capacity] })
    }

    /// Watch a socket: for data at every wait, for room to write once per call.
    pub fn watch(&self, socket: &impl AsFd, key: usize, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key as u64);
        match epoll::add(&self.descriptor, socket, data, interest.flags()) {
            Err(Errno::EXIST) => self.change(socket, key, interest),
            added => Ok(added?),
        }
    }

    /// Change what a watched socket is watched for. A waiting thread notices at once.
    pub fn change(&self, socket: &impl AsFd, key: usize, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key as u64);
        Ok(epoll::modify(&self.descriptor, socket, data, interest.flags())?)
    }

    pub fn another(&self) -> io::Result<Self> {
        Ok(Self { descriptor: self.descriptor.try_clone()?, events: Vec::new() })
    }

    pub fn forget(&self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.descriptor, socket)?)
    }

    /// Wait until a socket is ready or `timeout` has passed, and return the keys of ready ones.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<impl Iterator<Item = usize>> {
        let ready = match self.wait_precisely(timeout) {
            // The call does not exist before Linux 5.11.
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => self.wait_roughly(timeout),
            ready => ready,
        };
        let ready = match ready {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            ready => ready?.cast_unsigned() as usize,
        };
        Ok(self.events[..ready].iter().map(|event| event.u64 as usize))
    }
}

impl Readiness {
    /// To the nanosecond, with `epoll_pwait2(2)`.
    fn wait_precisely(&mut self, timeout: Duration) -> io::Result<libc::c_int> {
        let time = libc::timespec {
            tv_sec: timeout.as_secs().min(1).cast_signed(),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // SAFETY: pointer and length describe `events`; `time` is a valid timespec; there is no
        // signal mask.
        check(unsafe {
            libc::epoll_pwait2(
                self.descriptor.as_raw_fd(),
                self.events.as_mut_ptr(),
                i32::try_from(self.events.len()).unwrap_or(i32::MAX),
                &raw const time,
                std::ptr::null(),
            )
        })
    }

    /// To the millisecond, and never too early, with `epoll_wait(2)`.
    fn wait_roughly(&mut self, timeout: Duration) -> io::Result<libc::c_int> {
        let timeout_ms = timeout.min(Duration::from_secs(1)).as_nanos().div_ceil(1_000_000);
        // SAFETY: pointer and length describe `events`.
        check(unsafe {
            libc::epoll_wait(
                self.descriptor.as_raw_fd(),
                self.events.as_mut_ptr(),
                i32::try_from(self.events.len()).unwrap_or(i32::MAX),
                libc::c_int::try_from(timeout_ms).unwrap_or(1000),
            )
        })
    }
}

/// Wait for data, end of stream or `timeout` (poll(2)). Returns whether reading would not block.
pub fn wait_readable(source: &impl AsFd, timeout: Duration) -> io::Result<bool> {
    Ok(wait_for(source, PollFlags::IN, timeout)? > 0)
}

/// Wait until a socket has room to write or `timeout` has passed (poll(2)).
pub fn wait_writable(socket: &impl AsFd, timeout: Duration) -> io::Result<()> {
    match wait_for(socket, PollFlags::OUT, timeout) {
        Err(Errno::INTR) => Ok(()),
        waited => Ok(waited.map(drop)?),
    }
}

fn wait_for(socket: &impl AsFd, what: PollFlags, timeout: Duration) -> Result<usize, Errno> {
    let timeout = Timespec::try_from(timeout).ok();
    poll(&mut [PollFd::new(socket, what)], timeout.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Instant;

    const SHORT: Duration = Duration::from_micros(1_500);

    fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").unwrap()
    }

    #[test]
    fn old_kernel_waits_round_up() {
        let (waiting, sending) = (socket(), socket());
        let mut readiness = Readiness::new(4).unwrap();
        readiness.watch(&waiting, 7, Interest::Read).unwrap();
        let began = Instant::now();
        assert_eq!(readiness.wait_roughly(SHORT).unwrap(), 0);
        assert!(began.elapsed() >= SHORT);
        sending.send_to(b"x", waiting.local_addr().unwrap()).unwrap();
        assert_eq!(readiness.wait_roughly(Duration::from_secs(1)).unwrap(), 1);
        assert_eq!(readiness.wait_precisely(SHORT).unwrap(), 1);
    }

    #[test]
    fn a_waiting_thread_sees_sockets_rearmed_by_another() {
        let (waiting, sending) = (socket(), socket());
        let mut readiness = Readiness::new(4).unwrap();
        readiness.watch(&waiting, 7, Interest::Read).unwrap();
        let another = readiness.another().unwrap();
        another.change(&waiting, 7, Interest::Nothing).unwrap();
        sending.send_to(b"x", waiting.local_addr().unwrap()).unwrap();
        assert_eq!(readiness.wait(SHORT).unwrap().count(), 0);
        let waits = std::thread::spawn(move || {
            readiness.wait(Duration::from_secs(1)).unwrap().collect::<Vec<_>>()
        });
        another.change(&waiting, 7, Interest::Read).unwrap();
        assert_eq!(waits.join().unwrap(), [7]);
    }

    #[test]
    fn readable_data_is_distinguished_from_silence() {
        let (waiting, sending) = (socket(), socket());
        assert!(!wait_readable(&waiting, SHORT).unwrap());
        sending.send_to(b"x", waiting.local_addr().unwrap()).unwrap();
        assert!(wait_readable(&waiting, Duration::from_secs(1)).unwrap());
    }
}
