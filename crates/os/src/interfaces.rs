use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lanlab_messages::InterfaceFacts;

use super::check;
use super::ethtool::{SIOCETHTOOL, ask, control, named};
use super::link_modes::supported_speed_bps;

const SIOCGIWNAME: libc::c_ulong = 0x8b01;
const SIOCGIWPOWER: libc::c_ulong = 0x8b2d;
const GET_SETTINGS: u32 = 0x1;
const GET_DRIVER: u32 = 0x3;
const GET_TIMESTAMPS: u32 = 0x41;
const GET_ENERGY_EFFICIENT: u32 = 0x44;
const SPEED_UNKNOWN: u32 = u32::MAX;
const DUPLEX_HALF: u8 = 0;
const DUPLEX_FULL: u8 = 1;

/// The number of an interface, by its name (`if_nametoindex(3)`).
pub fn interface_index(name: &str) -> io::Result<u32> {
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, format!("no interface named `{name}`"));
    let text = CString::new(name).map_err(|_| missing())?;
    // SAFETY: the name ends with a zero and is only read.
    match unsafe { libc::if_nametoindex(text.as_ptr()) } {
        0 => Err(missing()),
        index => Ok(index),
    }
}

#[repr(C)]
#[derive(Default)]
struct Settings {
    command: u32,
    supported: u32,
    advertising: u32,
    speed: u16,
    duplex: u8,
    port: u8,
    phy_address: u8,
    transceiver: u8,
    autonegotiation: u8,
    mdio: u8,
    max_tx_packets: u32,
    max_rx_packets: u32,
    speed_high: u16,
    mdix: u8,
    mdix_control: u8,
    partner_advertising: u32,
    reserved: [u32; 2],
}

#[repr(C)]
struct Driver {
    command: u32,
    driver: [u8; 32],
    others: [u8; 160],
}

#[repr(C)]
#[derive(Default)]
struct EnergyEfficient {
    command: u32,
    supported: u32,
    advertised: u32,
    partner_advertised: u32,
    is_active: u32,
    is_enabled: u32,
    others: [u32; 4],
}

#[repr(C)]
#[derive(Default)]
struct Timestamps {
    command: u32,
    kinds: u32,
    clock: i32,
    others: [u32; 8],
}

/// The interfaces of this process's network namespace that are up or have an address, by name, without counters.
pub fn interfaces() -> io::Result<BTreeMap<String, InterfaceFacts>> {
    let mut found = BTreeMap::<String, InterfaceFacts>::new();
    each_address(|entry| {
        // SAFETY: a name of the list, which ends with a zero.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        // SAFETY: an address of the list, or null.
        let address = unsafe { address(entry.ifa_addr) };
        found.entry(name).or_default().addresses.extend(address.map(|one| one.to_string()));
    })?;
    for (name, interface) in &mut found {
        interface.mtu_bytes = mtu_bytes(name);
        (interface.speed_bps, interface.full_duplex) = speed(name);
        interface.driver = driver(name);
        interface.wireless = is_wireless(name);
        interface.supported_speed_bps = supported_speed_bps(name);
        interface.power_saving =
            if interface.wireless { saves_wireless_power(name) } else { saves_wired_power(name) };
        interface.ptp_clock = ptp_clock(name);
    }
    Ok(found)
}

/// Broadcast addresses of this host's networks.
pub fn broadcast_addresses() -> io::Result<Vec<Ipv4Addr>> {
    let mut found = Vec::new();
    each_address(|entry| {
        let wanted = (libc::IFF_UP | libc::IFF_BROADCAST) as libc::c_uint;
        if entry.ifa_flags & wanted != wanted {
            return;
        }
        // SAFETY: addresses of the list, or null.
        let [own, mask] = [entry.ifa_addr, entry.ifa_netmask].map(|one| unsafe { address(one) });
        if let (Some(IpAddr::V4(own)), Some(IpAddr::V4(mask))) = (own, mask)
            // A network of one or two hosts has no such address (RFC 3021).
            && u32::from(mask) < u32::MAX - 1
        {
            found.push(own | !mask);
        }
    })?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Look at each entry of the list of getifaddrs(3), which lives as long as this call.
fn each_address(mut visit: impl FnMut(&libc::ifaddrs)) -> io::Result<()> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call writes the list's address to this pointer.
    check(unsafe { libc::getifaddrs(&raw mut first) })?;
    let mut next = first;
    while !next.is_null() {
        // SAFETY: an entry of the list that getifaddrs(3) made, which is freed below.
        let entry = unsafe { &*next };
        next = entry.ifa_next;
        visit(entry);
    }
    // SAFETY: the list is from getifaddrs(3), and nothing points into it any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(())
}

/// # Safety
/// Null, or an address that is as long as its family's.
unsafe fn address(found: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller promises that it is null or an address.
    let family = i32::from(unsafe { found.as_ref() }?.sa_family);
    match family {
        libc::AF_INET => {
            // SAFETY: an address of this family has this length; it may not be aligned.
            let whole = unsafe { found.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(whole.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: likewise.
            let whole = unsafe { found.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(whole.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

fn mtu_bytes(device: &str) -> Option<u64> {
    let mut argument = named(device).ok()?;
    // SAFETY: the request writes a number into the argument itself.
    unsafe { control(libc::SIOCGIFMTU as _, &mut argument) }.ok()?;
    // SAFETY: the request has written it.
    u64::try_from(unsafe { argument.ifr_ifru.ifru_mtu }).ok()
}

fn speed(device: &str) -> (Option<u64>, Option<bool>) {
    let mut settings = Settings { command: GET_SETTINGS, ..Settings::default() };
    if ask(device, SIOCETHTOOL, &mut settings).is_err() {
        return (None, None);
    }
    let megabits = u32::from(settings.speed_high) << 16 | u32::from(settings.speed);
    // A link that is down reports "unknown", all ones in 32 or 16 bits, or 0.
    let is_known = !matches!(megabits, 0 | 0xffff | SPEED_UNKNOWN);
    let full_duplex = match settings.duplex {
        DUPLEX_HALF => Some(false),
        DUPLEX_FULL => Some(true),
        _ => None,
    };
    (is_known.then_some(u64::from(megabits) * 1_000_000), full_duplex.filter(|_| is_known))
}

fn driver(device: &str) -> Option<String> {
    let mut reply = Driver { command: GET_DRIVER, driver: [0; 32], others: [0; 160] };
    ask(device, SIOCETHTOOL, &mut reply).ok()?;
    let name = CStr::from_bytes_until_nul(&reply.driver).ok()?.to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

fn saves_wired_power(device: &str) -> Option<bool> {
    let mut reply = EnergyEfficient { command: GET_ENERGY_EFFICIENT, ..EnergyEfficient::default() };
    ask(device, SIOCETHTOOL, &mut reply).ok()?;
    Some(reply.is_active != 0)
}

fn ptp_clock(device: &str) -> Option<u32> {
    let mut reply = Timestamps { command: GET_TIMESTAMPS, ..Timestamps::default() };
    ask(device, SIOCETHTOOL, &mut reply).ok()?;
    // Without a PTP clock the number is -1.
    u32::try_from(reply.clock).ok()
}

fn saves_wireless_power(device: &str) -> Option<bool> {
    let mut argument = named(device).ok()?;
    // SAFETY: the request writes a `struct iw_param` of 8 bytes into the argument itself.
    unsafe { control(SIOCGIWPOWER, &mut argument) }.ok()?;
    // SAFETY: the request has written a number, whether it is fixed, and whether it is disabled.
    let parameter = unsafe { (&raw const argument.ifr_ifru).cast::<[u8; 8]>().read() };
    Some(parameter[5] == 0)
}

fn is_wireless(device: &str) -> bool {
    // SAFETY: the request writes a name of at most 16 bytes into the argument itself.
    named(device).is_ok_and(|mut it| unsafe { control(SIOCGIWNAME, &mut it) }.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_exists_and_unknown_devices_do_not() {
        let found = interfaces().unwrap();
        let lo = &found["lo"];
        assert!(lo.addresses.contains(&"127.0.0.1".to_owned()));
        assert!(lo.mtu_bytes.is_some_and(|octets| octets >= 1280));
        assert!(!lo.wireless);
        assert_eq!((mtu_bytes("no-such"), driver("no-such")), (None, None));
        assert_eq!((ptp_clock("no-such"), saves_wired_power("no-such")), (None, None));
        assert_eq!((ptp_clock("lo"), saves_wireless_power("lo")), (None, None));
        assert_eq!(speed("a name that is too long"), (None, None));
        // Loopback has no such address.
        assert!(!broadcast_addresses().unwrap().iter().any(Ipv4Addr::is_loopback));
    }
}
