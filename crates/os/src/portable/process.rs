use std::io;

pub fn bind_to_processor(_processor: usize) -> io::Result<()> {
    let what = "binding a thread to a processor is not known on this system";
    Err(io::Error::new(io::ErrorKind::Unsupported, what))
}

pub fn raise_descriptor_limit() {}

pub fn raise_descriptor_limit_to(_least: u64) {}

pub fn descriptor_limit() -> Option<u64> {
    None
}

pub fn user_and_group() -> Option<(u32, u32)> {
    None
}

pub fn favour_thread(_nice: i32) -> Option<i32> {
    None
}

/// Give up all capabilities of this process.
///
/// # Errors
/// Always: this system is not known to have them.
pub fn give_up_rights() -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "capabilities need Linux"))
}
