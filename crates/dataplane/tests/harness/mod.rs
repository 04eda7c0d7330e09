//! The code under fuzzing, for packets and for the control input. Nothing may panic, and the invariants are asserted.

use aqmlab_dataplane::classify::{Classifier, Direction, Distance, Group};
use aqmlab_dataplane::config::Planned;
use aqmlab_dataplane::control::{Command, Lines};
use aqmlab_dataplane::traffic::{Schedule, TrafficRequest};
use aqmlab_dataplane::wire::{lower_ttl, parse, parse_verified, set_ce, set_dscp};
use aqmlab_units::Time;

const GROUP: &str = r#"{"name": "g", "prefix_a": ["0.0.0.0/1", "::/1"], "prefix_b": ["0.0.0.0/0", "::/0"],
    "flow_label": "ipv6-label", "hops_before": 200, "dscp": 63, "class": 255}"#;

/// Packets one after the other: each is as long as its first byte says.
pub fn packets(bytes: &[u8]) {
    let group: Group = serde_json::from_str(GROUP).expect("a group");
    let mut classifier = Classifier::new(&[group], Distance::Option, 2).with_qosa_bit(true);
    let mut rest = bytes;
    while let Some((&length, behind)) = rest.split_first() {
        let (bytes, behind) = behind.split_at(behind.len().min(usize::from(length)));
        packet(bytes, &mut classifier);
        rest = behind;
    }
}

fn packet(bytes: &[u8], classifier: &mut Classifier) {
    let parsed = parse(bytes);
    let verified = parse_verified(bytes);
    assert!(verified.is_err() || verified == parsed);
    let mut rewritten = bytes.to_vec();
    set_dscp(&mut rewritten, 45);
    set_ce(&mut rewritten);
    let is_alive = lower_ttl(&mut rewritten, 3).is_ok();
    if let Ok(header) = parsed {
        assert!(header.bytes as usize <= bytes.len());
        let changed = parse(&rewritten).expect("as good as before");
        assert_eq!((changed.dscp, changed.kind, changed.ports), (45, header.kind, header.ports));
        assert_eq!(parse_verified(&rewritten).is_ok(), verified.is_ok(), "the checksum is repaired");
        assert_eq!(
            (changed.ttl, is_alive),
            if header.ttl > 3 { (header.ttl - 3, true) } else { (header.ttl, false) }
        );
        assert_eq!(changed.route, header.route);
        for direction in [Direction::Forward, Direction::Reverse, classifier.direction(&header)] {
            let meta = classifier.meta(Time::ZERO, direction, &header);
            assert!(meta.flow < 4 && meta.bytes == header.bytes);
            assert!(
                meta.header.ttl() <= header.ttl
                    && (header.route.is_some() || meta.header.ttl_final() <= meta.header.ttl())
            );
        }
        assert!(classifier.flows().all(|(_, label)| !label.to_string().is_empty()));
    } else if rewritten.len() < 20 {
        assert_eq!(rewritten, bytes);
    }
}

/// Lines on the standard input of a link process, configurations, traffic requests.
pub fn control(bytes: &[u8]) {
    let mut lines = Lines::default();
    lines.push(bytes);
    while let Some(line) = lines.line() {
        match line.and_then(|line| Command::read(&line)) {
            Ok(Some(Command::Reload(json))) => {
                one_line(Planned::read(&json).err().map(|bad| bad.to_string()));
            }
            Ok(_) => {}
            Err(said) => one_line(Some(said)),
        }
    }
    one_line(Command::read(bytes).err());
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    one_line(Planned::read(text).err().map(|bad| bad.to_string()));
    match TrafficRequest::from_json(text) {
        Err(wrong) => one_line(Some(wrong)),
        Ok(request) => {
            for flow in &request.flows {
                let due: Vec<_> =
                    Schedule::new(flow, request.seed, Time::from_secs(request.duration_s)).take(50).collect();
                assert!(due.windows(2).all(|pair| pair[0].time <= pair[1].time));
            }
        }
    }
}

/// Every error is one line.
fn one_line(said: Option<String>) {
    if let Some(said) = said {
        assert!(!said.is_empty() && !said.contains('\n'), "{said:?}");
    }
}
