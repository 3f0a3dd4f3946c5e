//! A server over the engine's own TCP.

use lanlab_files::OwnStack;
use lanlab_servers::SmallPlan;
use lanlab_servers::ftp::LEAST_CONNECTIONS;
use lanlab_stack::ip::small::BadValue;

use crate::listen::place_of;
use crate::messages::Failure;

/// The serving station.
pub fn plan_of(stack: &OwnStack) -> Result<SmallPlan, Failure> {
    if !stack.has_address_of_one_host() {
        let allowed = "an IPv4 address that no host has";
        return Err(Failure::value("address", stack.address, allowed));
    }
    let plan = plan(stack)?;
    let filled = plan.clone().filled();
    if filled.connections < LEAST_CONNECTIONS {
        let least = SmallPlan { connections: LEAST_CONNECTIONS, ..plan }.most_bytes();
        return Err(Failure::value("memory", stack.memory_bytes, format!("{least} bytes or more"))
            .hint(format!("allow more, as by `--stack-memory {least}`")));
    }
    Ok(filled)
}

fn plan(stack: &OwnStack) -> Result<SmallPlan, Failure> {
    let tcp = stack.profile(None, None, true).map_err(|BadValue { key, found, allowed }| {
        Failure::value(key, found, format!("{} to {}", allowed.start(), allowed.end()))
    })?;
    Ok(SmallPlan {
        place: place_of(&stack.link)?,
        address: stack.address,
        peer: None,
        tcp,
        connections: 0,
        memory_bytes: stack.memory_bytes,
    })
}
