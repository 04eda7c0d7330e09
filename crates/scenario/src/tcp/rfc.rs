//! Options of the RFC profile.

use aqmlab_transport::rfc::{Config, CongestionControl, EcnFeedback, LossDetection};

use crate::problem::Complaint;
use crate::section::Section;

/// Apply the settings of the table.
pub(crate) fn apply(tcp: &Section<'_>, config: &mut Config) {
    // Its feedback of marks is the default.
    super::set("congestion_control", tcp, config);
    super::set("loss_detection", tcp, config);
    if config.is_quic() {
        *config = Config::quic(config.congestion_control);
    }
    config.ecn = config.congestion_control.feedback();
    super::apply(tcp, config);
    for key in ["rack", "frto"] {
        // On by default, so that the error is reported only where the file sets it.
        if !config.sack && tcp.flag(key) == Some(true) {
            let complaint = Complaint::new(format!("{key} needs selective acknowledgements"));
            tcp.error(key, complaint.allowed(format!("{key} = false, or sack = true")));
        }
    }
    check_loss_detection(tcp, config);
    check_feedback(tcp, config);
    warn_of_unused(tcp, config);
}

/// Options that CUBIC alone uses, although they lack its name.
const CUBIC: [&str; 3] = ["hystart", "fast_convergence", "tcp_friendly"];

/// Warn of options that the controller or the loss detection of the flow does not use.
fn warn_of_unused(tcp: &Section<'_>, config: &Config) {
    let own = config.congestion_control;
    for other in CongestionControl::ALL.into_iter().filter(|other| *other != own) {
        let cubics = CUBIC.into_iter().filter(|_| other == CongestionControl::Cubic);
        for key in other.keys().chain(cubics).filter(|key| tcp.has(key)) {
            let message = format!(
                "has no effect: it is an option of {}, and the flow uses {}",
                other.name(),
                own.name()
            );
            tcp.warning(key, Complaint::new(message));
        }
    }
    if !config.is_quic() && tcp.has("reordering_threshold") {
        let complaint = Complaint::new("has no effect: TCP reports a missing packet at once");
        tcp.warning("reordering_threshold", complaint.allowed("with loss_detection = \"quic\""));
    }
    if config.ecn != EcnFeedback::Off && !own.responds_to_marks() {
        let message =
            format!("{} does not respond to marks, so a queue that marks does not slow it down", own.name());
        tcp.warning("ecn", Complaint::new(message));
    }
}

/// Reports options without effect under the loss detection, and a controller that needs TCP's time stamps under QUIC's.
fn check_loss_detection(tcp: &Section<'_>, config: &Config) {
    if !config.is_quic() {
        return;
    }
    let wrong =
        [("sack", false), ("rack", true), ("frto", true), ("undo", true), ("rto_floor_on_variance", true)];
    for (key, value) in wrong {
        if tcp.flag(key) == Some(value) {
            let complaint =
                Complaint::new(format!("{key} = {value} does not work with loss_detection = \"quic\""));
            tcp.error(key, complaint.allowed(format!("{key} = {}", !value)));
        }
    }
    if config.congestion_control == CongestionControl::Ledbat {
        let complaint = Complaint::new("ledbat measures delays by TCP's time stamps, which QUIC lacks");
        tcp.error("loss_detection", complaint.allowed(format!("{:?}", LossDetection::Tcp.name())));
    }
}

/// Reports feedback of marks that the controller can do nothing with.
fn check_feedback(tcp: &Section<'_>, config: &Config) {
    let controller = config.congestion_control;
    if !controller.works_with(config.ecn) {
        let message = format!("{} does not work with feedback {:?}", controller.name(), config.ecn.name());
        let others = EcnFeedback::ALL.into_iter().filter(|f| controller.works_with(*f));
        let names: Vec<String> = others.map(|f| format!("{:?}", f.name())).collect();
        tcp.error("ecn", Complaint::new(message).allowed(names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::tests::{check, with};
    use aqmlab_transport::Profile;
    use aqmlab_transport::rfc::HyStart;
    use aqmlab_units::Span;

    fn read(tcp: &Section<'_>) -> Config {
        let mut config = Config::linux(CongestionControl::Cubic);
        apply(tcp, &mut config);
        config
    }

    #[test]
    fn every_parameter_of_the_registry_can_be_set_and_defaults_change_nothing() {
        check(read);
        let with = |text| with(text, Profile::Rfc, read);
        assert_eq!(with("delayed_ack = false").delayed_ack, None);
        assert_eq!(with("delayed_ack = \"100ms\"").delayed_ack, Some(Span::from_millis(100)));
        assert_eq!(with("window = \"64KiB\"").window, 65_536);
        assert_eq!(with("hystart = \"rfc9406\"").hystart, HyStart::PlusPlus);
        assert_eq!(with("ecn = true").ecn, EcnFeedback::Classic);
        assert_eq!(with("ecn = false").ecn, EcnFeedback::Off);
        assert_eq!(with("ecn = \"accurate\"").ecn, EcnFeedback::Accurate);
        assert_eq!(with("congestion_control = \"dctcp\"").ecn, EcnFeedback::Dctcp);
        let quic = with(
            "loss_detection = \"quic\"\ncongestion_control = \"reno\"\nack_ratio = 10\nreordering_threshold = 3",
        );
        let expected =
            Config { ack_ratio: 10, reordering_threshold: 3, ..Config::quic(CongestionControl::Reno) };
        assert_eq!(quic, expected);
        assert_eq!(with("congestion_control = \"prague\"").ecn, EcnFeedback::Accurate);
    }
}
