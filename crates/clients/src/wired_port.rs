//! A session of `NetBEUI` to the server of a target.

use lanlab_connections::wired::{WiredPlan, WiredPort, counts_of, node_of};
use lanlab_files::{CarrierCounts, Class, Fault, LinkPlace, Result, Target};
use lanlab_os::RawLinkPlace;
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_wire::netbios_name::{Name, suffix};

use crate::transport;

/// Call the server by its name, from this host's station, which has a name of its own.
pub async fn connect(target: &Target) -> Result<WiredPort> {
    let Some(place) = place_of(target) else {
        return Err(Fault::new(Class::Unreachable, "found no interface")
            .hint("name the interface that leads to the server"));
    };
    let Some(server) = &target.server_name else {
        return Err(Fault::new(Class::Unreachable, "found no name of the server")
            .hint("name the server in its URL"));
    };
    let called = Name::new(server, suffix::SERVER).map_err(|error| {
        Fault::new(Class::Name, format!("`{server}` is no NetBIOS name: {error}"))
            .hint("a name has 1 to 15 characters of ASCII")
    })?;
    let plan = WiredPlan { place, name: None, profile: WINDOWS_NT, listens: false };
    let opening = || node_of(&plan);
    let node = opening().map_err(|error| link_fault(&plan, &error))?;
    let what = format!("call `{}` over NetBEUI", called.text());
    transport::within(target, &what, async {
        node.claimed().await.map_err(|error| Fault::of_connection("claim a name", &error))?;
        node.call(called).await.map_err(|error| Fault::of_connection(&what, &error))
    })
    .await
}

fn place_of(target: &Target) -> Option<RawLinkPlace> {
    Some(match target.link.as_ref()? {
        LinkPlace::Interface(name) => RawLinkPlace::Interface(name.clone()),
        LinkPlace::Descriptor(descriptor) | LinkPlace::Recorded { descriptor, .. } => {
            RawLinkPlace::Descriptor(*descriptor)
        }
    })
}

/// What this host's station counts from a time on.
#[derive(Debug)]
pub struct CarriedSince<'a> {
    target: &'a Target,
    before: CarrierCounts,
}

impl<'a> CarriedSince<'a> {
    /// From now on, on the way to a target.
    pub fn begin(target: &'a Target) -> Self {
        Self { target, before: counted(target).unwrap_or_default() }
    }

    /// Until now; `None` where no station was used for the target.
    pub fn counts(&self) -> Option<CarrierCounts> {
        counted(self.target).map(|counts| counts.since(self.before))
    }
}

fn counted(target: &Target) -> Option<CarrierCounts> {
    counts_of(&place_of(target)?).map(CarrierCounts::from)
}

fn link_fault(plan: &WiredPlan, error: &std::io::Error) -> Fault {
    let what = match &plan.place {
        RawLinkPlace::Interface(name) => format!("interface `{name}`"),
        RawLinkPlace::Descriptor(number) => format!("descriptor {number}"),
    };
    let fault = Fault::of_connection(what, error);
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            fault.hint("raw frames need the rights of root on that host")
        }
        std::io::ErrorKind::NetworkDown => fault.hint("take the interface up"),
        _ => fault,
    }
}
