//! Station settings in requests: its IPX segment and its period system.

use lanlab_files::{Carrier, IpxSegment, SystemProfile};

use crate::messages::Failure;

pub fn check_segment(segment: IpxSegment, carrier: Carrier) -> Result<(), Failure> {
    if !segment.has_no_effect(carrier) {
        return Ok(());
    }
    let found = format!("a framing or network over {}", carrier.name());
    Err(Failure::value("ipx", found, "none, or a carrier on IPX"))
}

/// Refuse a period system on a carrier that it does not use.
pub fn check_profile(profile: Option<SystemProfile>, carrier: Carrier) -> Result<(), Failure> {
    let Some(asked) = profile else { return Ok(()) };
    if carrier == Carrier::Frames(asked.carrier()) {
        return Ok(());
    }
    let found = format!("{} over {}", asked.numbers().name, carrier.name());
    Err(Failure::value("profile", found, format!("it over {}", asked.carrier().name())))
}

#[cfg(test)]
mod tests {
    use lanlab_files::Target;
    use serde_json::json;

    use super::*;

    fn checked(carrier: &str, ipx: &serde_json::Value) -> Result<(), String> {
        let target = json!({ "service": "smb1", "carrier": carrier, "ipx": ipx });
        let target: Target = serde_json::from_value(target).map_err(|error| error.to_string())?;
        check_segment(target.ipx, target.carrier).map_err(|failure| failure.message)
    }

    #[test]
    fn period_systems_use_only_their_own_carrier() {
        let checked = |carrier: &str, profile: &str| {
            let target = json!({ "service": "smb1", "carrier": carrier, "profile": profile });
            let target: Target = serde_json::from_value(target).unwrap();
            check_profile(target.profile, target.carrier).map_err(|failure| failure.message)
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
