use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::rtnetlink::Rtnetlink;

/// Move the calling thread into the network namespace of a process (setns(2)).
fn enter_network_of(pid: u32) -> io::Result<()> {
    let path = format!("/proc/{pid}/ns/net");
    let about = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
    let namespace = File::open(&path).map_err(about)?;
    let kind = Some(LinkNameSpaceType::Network);
    move_into_link_name_space(namespace.as_fd(), kind).map_err(|error| about(error.into()))
}

pub fn own_network() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Run `work` with a routing socket in the network namespace of each of these processes.
pub fn in_networks<T: Send, P: Sync>(
    plans: &[P],
    pid_of: impl Fn(&P) -> u32 + Send,
    mut work: impl FnMut(Rtnetlink, &P) -> io::Result<T> + Send,
) -> io::Result<Vec<T>> {
    // Namespaces belong to threads: a separate thread leaves this process's own unchanged.
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let in_one = |plan| {
                enter_network_of(pid_of(plan))?;
                work(Rtnetlink::open()?, plan)
            };
            plans.iter().map(in_one).collect()
        });
        let stopped = |_| Err(io::Error::other("work in a network namespace stopped"));
        worker.join().unwrap_or_else(stopped)
    })
}
