//! `scream = { ... }` of a flow: media whose bit rate SCReAM controls, from the registry of the transport crate.

use std::sync::Arc;

use aqmlab_transport::scream::{Config, NAME, PARAMETERS};

use super::arrivals;
use super::transport::GroupTransport;
use crate::parameter;
use crate::problem::Complaint;
use crate::section::Section;
use crate::shape::Shape;
use crate::tcp::PACKET_SIZE;

/// Return the shape of the table.
pub(super) fn shape() -> Shape {
    Shape::new("Options of SCReAM.", PARAMETERS.iter().map(parameter::key).collect())
}

/// Read a flow of this transport.
pub(super) fn read(flow: &Section<'_>) -> Option<GroupTransport> {
    for (key, allowed) in [
        ("tcp", "scream = { ... }"),
        ("size", "start and stop"),
        ("rate", "scream = { min_rate = ..., max_rate = ... }"),
        ("pattern", "scream = { frame_rate = ... }"),
        (arrivals::KEY, "transport = \"udp\""),
        (PACKET_SIZE, "scream = { mss = ... }"),
    ] {
        flow.refuse(key, Complaint::new(format!("a flow of {NAME} has no {key}")).allowed(allowed));
    }
    let mut config = Config::default();
    if let Some(options) = flow.section(NAME) {
        for parameter in PARAMETERS.iter() {
            let value = options.value(parameter.key).and_then(|value| parameter::read(value, parameter).ok());
            if let Some(value) = value.and_then(|value| parameter::setting(value, parameter)) {
                config.set(parameter.key, value);
            }
        }
        check_rates(&options, &config);
        let (least, max) = (config.least_bps() / 1e3, config.max_rate.bps() / 1e3);
        if least > max {
            let message =
                format!("frames have 40 bytes of headers: {} a second are {least} kb/s", config.frame_rate);
            options.warning("max_rate", Complaint::new(format!("{message}, above max_rate ({max} kb/s)")));
        }
        if options.has("key_frame_ratio") && config.key_frame_interval.is_none() {
            let complaint = Complaint::new("has no effect without key_frame_interval");
            options.warning("key_frame_ratio", complaint.allowed("key_frame_interval = a time"));
        }
    }
    Some(GroupTransport::Scream(Arc::new(config)))
}

/// Report rates that are not in order.
fn check_rates(options: &Section<'_>, config: &Config) {
    let (min, max, start) = (config.min_rate, config.max_rate, config.start_rate());
    let kbps = |rate: aqmlab_units::Rate| rate.bps() / 1e3;
    let allowed = || "min_rate <= start_rate <= max_rate";
    if min > max {
        let key = if options.has("min_rate") { "min_rate" } else { "max_rate" };
        let message = format!("min_rate ({} kb/s) is above max_rate ({} kb/s)", kbps(min), kbps(max));
        options.error(key, Complaint::new(message).allowed(allowed()));
    } else if start < min || start > max {
        let (from, to) = (kbps(min), kbps(max));
        let message = format!("start_rate ({} kb/s) is not within {from} and {to} kb/s", kbps(start));
        options.error("start_rate", Complaint::new(message).allowed(allowed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_of_the_schema_are_those_of_the_configuration() {
        let mut config = Config::default();
        for parameter in PARAMETERS.iter().filter(|p| p.key != "start_rate") {
            let key = parameter::key(parameter);
            let text = format!("value = {}", key.default);
            let report = crate::problem::Report::new("", &text);
            let table = crate::tree::read(&text, &report).expect("TOML");
            let value = &table["value"].node.value;
            assert!(key.kind.fits(value), "{}", parameter.key);
            let value = parameter::read(value, parameter).expect("a value");
            let value = parameter::setting(value, parameter).expect("a setting");
            assert!(config.set(parameter.key, value), "{}", parameter.key);
            assert_eq!(config, Config::default(), "{}", parameter.key);
        }
    }
}
