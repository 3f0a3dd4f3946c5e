//! The TCP of tests and examples for which it does not matter.

use lanlab_stack::ip::TcpProfile;

pub const TCP: TcpProfile = TcpProfile {
    mss_bytes: None,
    receive_buffer_bytes: 8192,
    send_buffer_bytes: 8192,
    send_rings: TcpProfile::LONG_SEND_RINGS,
    delayed_ack_ns: None,
    is_modern: false,
    nagle: true,
};
