//! Copies over the engine's own TCP.

use lanlab_clients::small;
use lanlab_files::Target;

use crate::listen::place_of;
use crate::messages::{CopySpec, Failure, StackFacts};
use crate::stack_facts::stack_facts;

pub fn check(spec: &CopySpec) -> Result<(), Failure> {
    let target = &spec.service;
    let Some(stack) = target.options.stack() else { return Ok(()) };
    let value = |key, found: String, allowed: &str| {
        Err(Failure::value(key, found, format!("{allowed} with the small stack")))
    };
    place_of(&stack.link)?;
    if spec.parallel_files != 1 {
        return value("parallel_files", spec.parallel_files.to_string(), "1");
    }
    let is_taken = target.address.is_some_and(|server| server.ip() == stack.address);
    if is_taken || !stack.has_address_of_one_host() {
        return value("address", stack.address.to_string(), "an IPv4 address that no host has");
    }
    let Some(plan) = small::plan_of(target) else {
        return value("service", "this one".to_owned(), "IPv4, and buffers of 1460 to 65535 bytes");
    };
    let most = plan.most_bytes();
    if most > stack.memory_bytes {
        return Err(Failure::value(
            "memory",
            stack.memory_bytes,
            format!("{most} bytes or more with these buffers"),
        )
        .hint(format!("allow more, as by `--stack-memory {most}`")));
    }
    Ok(())
}

pub fn facts(target: &Target) -> Option<StackFacts> {
    small::counted(target).as_ref().map(stack_facts)
}
