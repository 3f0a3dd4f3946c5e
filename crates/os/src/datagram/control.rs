//! Control messages of datagrams (cmsg(3)).

/// Bytes of control messages with one datagram: a count of drops and a size of joined datagrams
/// (24 each), three time stamps (64), and some to spare.
pub const CONTROL_BYTES: usize = 128;

#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub struct Control(pub [u8; CONTROL_BYTES]);

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Control")
    }
}

#[derive(Default)]
pub struct ControlNotes {
    pub segment_bytes: Option<usize>,
    pub drops: u32,
    pub kernel_realtime_ns: Option<u64>,
    pub stamp_number: Option<u32>,
}

impl ControlNotes {
    pub fn of(header: &libc::msghdr) -> Self {
        let mut notes = Self::default();
        // SAFETY: the kernel has filled `header`, whose control buffer lives as long as its batch;
        // the macros stay within the length that the kernel has set, and each kind of message
        // carries the data read from it.
        unsafe {
            let mut message = libc::CMSG_FIRSTHDR(header);
            while !message.is_null() {
                let data = libc::CMSG_DATA(message);
                match ((*message).cmsg_level, (*message).cmsg_type) {
                    (libc::SOL_UDP, libc::UDP_GRO) => {
                        let size = data.cast::<libc::c_int>().read_unaligned();
                        notes.segment_bytes = usize::try_from(size).ok().filter(|size| *size > 0);
                    }
                    (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                        notes.drops = data.cast::<u32>().read_unaligned();
                    }
                    (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                        // The first of three timestamps is the kernel's own.
                        let time = data.cast::<libc::timespec>().read_unaligned();
                        let nanos = time.tv_sec.cast_unsigned() * 1_000_000_000
                            + time.tv_nsec.cast_unsigned();
                        notes.kernel_realtime_ns = (nanos > 0).then_some(nanos);
                    }
                    (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                        let error = data.cast::<libc::sock_extended_err>().read_unaligned();
                        notes.stamp_number = (error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING)
                            .then_some(error.ee_data);
                    }
                    _ => {}
                }
                message = libc::CMSG_NXTHDR(header, message);
            }
        }
        notes
    }
}
