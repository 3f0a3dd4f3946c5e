//! Settings of a service and its station in requests.

use lanlab_files::{Carrier, IpxSegment, ServiceKind, SystemProfile, Target};

use super::setup::check_range;
use crate::messages::Failure;

/// Refuse settings that have no effect on the service or its carrier, and impossible ones.
pub fn check_target(target: &Target) -> Result<(), Failure> {
    check_options(target.options.are_of(target.service), target.service)?;
    check_range("service.timeout_ns", target.timeout_ns, 1_000_000, 600_000_000_000)?;
    check_segment(target.ipx, target.carrier)?;
    check_profile(target.options.smb1().profile, target.carrier)
}

pub fn check_options(are_of_it: bool, service: ServiceKind) -> Result<(), Failure> {
    if are_of_it {
        return Ok(());
    }
    let (found, allowed) = ("those of another service", format!("of {service:?}"));
    Err(Failure::value("options", found, allowed.to_lowercase()))
}

pub fn check_segment(segment: IpxSegment, carrier: Carrier) -> Result<(), Failure> {
    if !segment.has_no_effect(carrier) {
        return Ok(());
    }
    let found = format!("a framing or network over {}", carrier.name());
    Err(Failure::value("ipx", found, "none, or a carrier on IPX"))
}

/// Refuse a period system on a carrier that it does not use.
pub fn check_profile(profile: Option<SystemProfile>, carrier: Carrier) -> Result<(), Failure> {
    let Some(SystemProfile(asked)) = profile else { return Ok(()) };
    if carrier == Carrier::Frames(asked.carrier) {
        return Ok(());
    }
    let found = format!("{} over {}", asked.name, carrier.name());
    Err(Failure::value("profile", found, format!("it over {}", asked.carrier.name())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(target: serde_json::Value) -> Result<(), String> {
        let target: Target = serde_json::from_value(target).map_err(|error| error.to_string())?;
        check_target(&target).map_err(|failure| failure.message)
    }

    #[test]
    fn options_of_another_service_are_refused() {
        let of = |service: &str| json!({ "service": service, "options": { "ncp": {} } });
        assert_eq!(checked(of("ncp")), Ok(()));
        let refused = "`options`: found those of another service; allowed: of smb1";
        assert_eq!(checked(of("smb1")), Err(refused.to_owned()));
    }

    #[test]
    fn period_systems_use_only_their_own_carrier() {
        let checked = |carrier: &str, profile: &str| {
            let options = json!({ "smb1": { "profile": profile } });
            checked(json!({ "service": "smb1", "carrier": carrier, "options": options }))
        };
        assert_eq!(checked("nbf", "pc-lan-program"), Ok(()));
        assert_eq!(checked("spp", "three-plus"), Ok(()));
        let refused = "`profile`: found pc-lan-program over tcp; allowed: it over nbf";
        assert_eq!(checked("tcp", "pc-lan-program"), Err(refused.to_owned()));
        let refused = "`profile`: found three-plus over nbf; allowed: it over spp";
        assert_eq!(checked("nbf", "three-plus"), Err(refused.to_owned()));
    }

    #[test]
    fn segment_settings_are_valid_only_on_ipx() {
        let checked = |carrier: &str, ipx: &serde_json::Value| {
            checked(json!({ "service": "smb1", "carrier": carrier, "ipx": ipx }))
        };
        for framing in ["ethernet-ii", "raw-802.3", "802.2", "snap"] {
            assert_eq!(checked("ipx", &json!({ "framing": framing })), Ok(()));
        }
        assert_eq!(checked("nbipx", &json!({ "network": 0xffff_fffe_u32 })), Ok(()));
        assert_eq!(checked("nbf", &json!({})), Ok(()));
        for (carrier, ipx, said) in [
            ("ipx", json!({ "network": 0 }), "network: found 0; allowed: 1 to 4294967294"),
            ("ipx", json!({ "network": u32::MAX }), "found 4294967295; allowed: 1 to 4294967294"),
            ("ipx", json!({ "framing": "802.3" }), "unknown variant `802.3`"),
            ("nbf", json!({ "network": 1 }), "`ipx`: found a framing or network over nbf"),
        ] {
            let refused = checked(carrier, &ipx).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
