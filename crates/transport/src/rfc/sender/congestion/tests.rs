//! Every parameter of every controller changes something, under conditions that the controller's file gives.

use aqmlab_units::Span;

use super::{CongestionControl, ControllerOptions};
use crate::bottleneck::{Flow, Path, run};
use crate::rfc::Config;
use crate::{Configuration, Value};

/// How long flows are looked at unless a change takes longer.
const SECONDS: u32 = 15;

/// A change of a parameter that changes something, with the conditions under which it does.
#[derive(Clone, Debug)]
pub struct Change {
    key: &'static str,
    value: Value<'static>,
    with: Vec<(&'static str, Value<'static>)>,
    seconds: u32,
}

impl Change {
    /// This parameter from its default to this value.
    pub fn to(key: &'static str, value: Value<'static>) -> Self {
        Self { key, value, with: Vec::new(), seconds: SECONDS }
    }

    /// With another parameter set.
    pub fn with(mut self, other: (&'static str, Value<'static>)) -> Self {
        self.with.push(other);
        self
    }

    /// After this time.
    pub fn after(self, seconds: u32) -> Self {
        Self { seconds, ..self }
    }
}

/// Return the results of two flows of different round-trip times behind a queue of 30 packets that marks arrivals
/// that meet ten others.
fn behaviour(config: &Config, seconds: u32) -> String {
    let flow = |ms, start| Flow { config: config.clone(), delay: Span::from_millis(ms), start };
    let path = Path { limit: 30, mark_at: 10, seconds, warmup: 0 };
    format!("{:?}", run(path, &[flow(20, 0), flow(60, 1000)]))
}

#[test]
fn every_parameter_of_every_controller_changes_something() {
    let mut without_effect = Vec::new();
    for control in CongestionControl::ALL {
        let changes = control.changes();
        let keys: Vec<_> = changes.iter().map(|change| change.key).collect();
        assert_eq!(
            keys,
            control.keys().collect::<Vec<_>>(),
            "{}: a change of each parameter",
            control.name()
        );
        for Change { key, value, with, seconds } in changes {
            let mut config = Config::linux(control);
            for (key, value) in with {
                assert!(config.set(key, value), "{key} = {value:?}");
            }
            let default = behaviour(&config, seconds);
            assert!(config.set(key, value), "{key} = {value:?}");
            config.check().expect("in range");
            if behaviour(&config, seconds) == default {
                without_effect.push(key);
            }
        }
    }
    assert_eq!(without_effect, [""; 0], "these change nothing");
}

#[test]
fn a_parameter_of_another_controller_has_no_effect() {
    for control in CongestionControl::ALL {
        let default = behaviour(&Config::linux(control), SECONDS);
        let mut config = Config::linux(control);
        for Change { key, value, .. } in
            CongestionControl::ALL.into_iter().filter(|c| *c != control).flat_map(CongestionControl::changes)
        {
            assert!(config.set(key, value), "{key}");
        }
        assert_eq!(behaviour(&config, SECONDS), default, "{}", control.name());
    }
}

#[test]
fn controllers_describe_themselves() {
    for (k, control) in CongestionControl::ALL.into_iter().enumerate() {
        let name = control.name();
        assert_eq!(CongestionControl::from_name(name), Some(control), "{name}: another has this name");
        assert_eq!(CongestionControl::ALL[k], control);
        assert_eq!(control.label(), format!("tcp-{name}"));
        assert!(!control.doc().is_empty() && !control.source().is_empty(), "{name}");
        for parameter in ControllerOptions::parameters_of(control) {
            let key = parameter.key;
            assert!(key.starts_with(&format!("{name}_")), "{key}: keys begin with the name");
            assert!(ControllerOptions::DEFAULT.get(key).is_some(), "{key}: has a field");
        }
    }
}
