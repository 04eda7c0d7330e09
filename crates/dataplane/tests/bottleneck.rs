//! The link in logical time: only its channel loses, copies and reorders packets, and a new configuration changes only its own keys.

use aqmlab_aqm::{Header, Meta, Packet};
use aqmlab_dataplane::bottleneck::{Bottleneck, PacketOutcomes};
use aqmlab_dataplane::buffer::Buffer;
use aqmlab_dataplane::config::Planned;
use aqmlab_netsim::plan::{ChannelChange, Line, Server};
use aqmlab_netsim::standalone_link;
use aqmlab_units::{Rate, Span, Time};
use proptest::prelude::*;

/// A link of 8 Mbit/s and 2 ms with this queue; a packet of 1000 bytes lasts a millisecond.
fn planned(queue: &str, rate: &str, more: serde_json::Value) -> Planned {
    let scenario = format!(
        r#"
        format = 1
        [run]
        duration = "10s"
        [dumbbell]
        bottleneck = {{ rate = "{rate}", delay = "2ms", queue = "q" }}
        left = {{ rate = "100Mbps", delay = "1ms" }}
        right = {{ rate = "100Mbps", delay = "1ms" }}
        [queue.q]
        {queue}
        [[flow]]
        name = "g"
        transport = "udp"
        rate = "1Mbps"
        "#
    );
    let mut config = serde_json::json!({
        "scenario": scenario,
        "a": {"device": "a"},
        "b": {"device": "b"},
        "groups": [
            {"name": "g", "prefix_a": ["10.0.0.1"], "prefix_b": ["10.0.0.2"], "delay_before_ns": 1_000_000},
            {"name": "h", "prefix_a": ["10.0.1.1"], "prefix_b": ["10.0.1.2"], "delay_after_ns": 3_000_000},
        ],
        "buffers": 4096,
    });
    let config = config.as_object_mut().expect("an object");
    config.extend(more.as_object().expect("an object").clone());
    Planned::read(&serde_json::to_string(config).expect("JSON")).expect("a configuration")
}

fn forward(planned: &Planned) -> Bottleneck {
    Bottleneck::new(&planned.settings(&planned.groups())[0])
}

fn packet(slot: u32, group: u16, bytes: u32) -> Packet<Buffer> {
    let header = Header::default().with_ttl_initial(64).with_ttl(64);
    let payload = Buffer { slot, flow: u32::from(group), group, ..Buffer::default() };
    Packet { meta: Meta { bytes, flow: 2 * u32::from(group), header, ..Meta::default() }, payload }
}

const DROP_TAIL: &str = "aqm = \"drop-tail\"\nlimit = \"100p\"";
const RED: &str = "aqm = \"red\"\nlimit = \"20p\"\nmin_th = \"3p\"\nmax_th = \"9p\"\nmax_p = 0.2\nw_q = 0.1\nmean_packet = \"1000B\"";

/// Times and slots that leave until `to`.
fn leave(link: &mut Bottleneck, to: Time) -> Vec<(Time, u32)> {
    let mut left = Vec::new();
    link.advance(to, &mut |time, packet, _| left.push((time, packet.payload.slot)));
    left
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn delays_before_and_behind_the_link() {
    let mut link = forward(&planned(DROP_TAIL, "8Mbps", serde_json::json!({})));
    // Of group g, 1 ms before the queue, then of group h, which is at the queue earlier.
    link.offer(ms(0), packet(0, 0, 1000));
    link.offer(ms(0), packet(1, 1, 1000));
    assert_eq!(link.next_event(), Some(ms(1)));
    // h: served 0 to 1, 2 ms of the link, 3 ms behind: 6. g: served 1 to 2, 2 ms of the link: 4.
    assert_eq!(leave(&mut link, ms(3)), []);
    assert_eq!(leave(&mut link, ms(10)), [(ms(4), 0), (ms(6), 1)]);
    assert_eq!((link.held(), link.next_event()), (0, None));
}

#[test]
fn what_is_driven_late_decides_as_what_is_driven_in_time() {
    let arrivals: Vec<_> = (0..400).map(|i| (Time(i * 700_000_000), packet(i as u32, 0, 1000))).collect();
    let run = |late: bool| {
        let mut link = forward(&planned(RED, "8Mbps", serde_json::json!({})));
        let mut left = Vec::new();
        for (time, packet) in &arrivals {
            if !late {
                while let Some(next) = link.next_event().filter(|next| next <= time) {
                    left.extend(leave(&mut link, next));
                }
            }
            link.offer(*time, *packet);
        }
        left.extend(leave(&mut link, ms(10_000)));
        (left, link.outcomes())
    };
    let (in_time, late) = (run(false), run(true));
    assert!(in_time.1.dropped > 50, "{:?}", in_time.1);
    assert_eq!(in_time, late);
}

#[test]
fn what_left_before_the_warm_up_was_over_is_not_measured_however_late_that_is_seen() {
    for late in [false, true] {
        let mut link = forward(&planned(DROP_TAIL, "8Mbps", serde_json::json!({ "warmup_s": 0.01 })));
        // Three leave at 3, 4 and 5 ms; two arrive as the measured part begins, of which one is 1 ms away from the queue.
        (0..3).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
        link.offer(ms(9), packet(3, 0, 1000));
        if !late {
            assert_eq!(leave(&mut link, ms(9)).len(), 3);
        }
        link.offer(ms(10), packet(4, 1, 1000));
        leave(&mut link, ms(100));
        let measured = [0, 1].map(|flow| link.flows().measured(flow));
        assert_eq!(measured.map(|c| (c.arrivals, c.departures)), [(1, 1); 2], "late: {late}");
        assert_eq!(link.link().expect("a queue").counters().arrivals, 2);
        assert_eq!([0, 1].map(|flow| link.flows().of(flow).departures), [1, 4]);
    }
}

#[test]
fn the_packet_in_service_waits_until_its_end_where_that_is_asked_for() {
    let waiting = |in_service_counts: bool| {
        let config = serde_json::json!({ "in_service_counts": in_service_counts });
        let mut link = forward(&planned(DROP_TAIL, "8Mbps", config));
        (0..3).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
        let at = |link: &Bottleneck| link.link().expect("a queue").backlog().packets;
        let at_first = at(&link);
        let left = leave(&mut link, Time(ms(2).0 + 500_000_000));
        let then = at(&link);
        let rest = leave(&mut link, ms(100));
        link.finish(ms(100));
        let busy = link.link().expect("a queue").counters().busy;
        (at_first, left.len(), then, rest, busy)
    };
    let times = [(ms(6), 0), (ms(7), 1), (ms(8), 2)].to_vec();
    let busy = Span::from_millis(3).0;
    assert_eq!(waiting(false), (2, 0, 0, times.clone(), busy));
    assert_eq!(waiting(true), (3, 0, 1, times, busy));
}

#[test]
fn statistics_of_a_running_link_are_those_of_a_run_that_ends_then() {
    for (warmup_s, ends) in [(0.0, [0, 1, 100]), (0.0008, [0, 1, 100])] {
        let planned = planned(DROP_TAIL, "8Mbps", serde_json::json!({ "warmup_s": warmup_s }));
        let since = Time(0) + planned.plan.warmup;
        for end in ends.map(|end| Time(ms(end).0 + 300_000_000)) {
            let mut link = forward(&planned);
            (0..3).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
            leave(&mut link, end);
            let table = |link: &Bottleneck| {
                // As text, in which NaN is itself.
                format!("{:?}", link.link().expect("a queue").measured(end).table("bottleneck", "drop-tail"))
            };
            let now = table(&link);
            link.finish(end);
            assert_eq!(now, table(&link));
            if end > since {
                let links = [link.link().expect("a queue")];
                let (_, at_end) = &standalone_link::tables(&planned.plan, &links, end.since(since))[0];
                // The capacity follows from the plan, of which a running link knows its rate alone.
                let (capacity, counted) = at_end.split_last().expect("columns");
                assert_eq!(capacity.0, "capacity_bps");
                assert_eq!(now, format!("{counted:?}"));
            }
        }
    }
}

#[test]
fn another_rate_takes_effect_with_the_next_service() {
    let mut link = forward(&planned(DROP_TAIL, "8Mbps", serde_json::json!({})));
    (0..3).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
    let faster = planned(DROP_TAIL, "80Mbps", serde_json::json!({}));
    link.renew(Time(ms(0).0 + 500_000_000), &faster.settings(&faster.groups())[0], true);
    let left = leave(&mut link, ms(100));
    let tenth = |n: u64| Time(ms(6).0 + n * 100_000_000);
    assert_eq!(left, [(ms(6), 0), (tenth(1), 1), (tenth(2), 2)]);
}

#[test]
fn another_queue_gets_what_waits_in_order_also_if_it_has_no_room() {
    for (queue, waiting) in [(DROP_TAIL, 49), (RED, 49), ("aqm = \"drop-tail\"\nlimit = \"2p\"", 49)] {
        let mut link = forward(&planned(DROP_TAIL, "8Mbps", serde_json::json!({})));
        (0..50).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
        let other = planned(queue, "8Mbps", serde_json::json!({}));
        link.renew(ms(0), &other.settings(&other.groups())[0], false);
        assert_eq!(link.link().expect("a queue").backlog().packets, waiting);
        let left = leave(&mut link, ms(1000));
        assert_eq!(left.iter().map(|(_, slot)| *slot).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
        assert!(left.windows(2).all(|pair| pair[1].0.since(pair[0].0) == Span::from_millis(1)), "no pause");
        assert_eq!((link.outcomes().dropped, link.held()), (0, 0));
    }
}

/// Let the rate of the link be 0 from a time on.
fn stop(planned: &mut Planned, at: Time) {
    let mut links = planned.plan.links.to_vec();
    let link = &mut links[planned.forward as usize];
    let mut line = Line::clone(&link.line);
    line.change(at, Some(Server::constant(Rate(0))), &ChannelChange::default());
    link.line = line.into();
    planned.plan.links = links.into();
}

#[test]
fn a_link_that_stands_still_goes_on_with_a_new_rate() {
    for in_service_counts in [false, true] {
        let config = serde_json::json!({ "in_service_counts": in_service_counts });
        let mut still = planned(DROP_TAIL, "8Mbps", config.clone());
        stop(&mut still, Time(ms(2).0 + 500_000_000));
        let mut link = forward(&still);
        (0..4).for_each(|slot| link.offer(ms(0), packet(slot, 1, 1000)));
        assert_eq!(leave(&mut link, ms(1000)), [(ms(6), 0), (ms(7), 1)]);
        assert!(link.next_event().is_none_or(|next| next > ms(1_000_000_000)));
        let moving = planned(DROP_TAIL, "8Mbps", config);
        link.renew(ms(1000), &moving.settings(&moving.groups())[0], true);
        assert_eq!(leave(&mut link, ms(2000)), [(ms(1006), 2), (ms(1007), 3)]);
        link.finish(ms(2000));
        let busy = link.link().expect("a queue").counters().busy;
        assert_eq!((link.held(), busy), (0, Span::from_millis(1002).0));
    }
}

/// Keys of a channel that does everything to packets.
fn impaired() -> serde_json::Value {
    let keys = [("loss", "0.1"), ("jitter", "4ms"), ("reorder", "0.1"), ("duplicate", "0.2")];
    keys.map(|(key, value)| [format!("dumbbell.bottleneck.{key}"), value.to_owned()]).to_vec().into()
}

#[test]
fn packets_overtake_arrive_twice_and_are_lost_as_the_channel_says() {
    let planned = planned(DROP_TAIL, "8Mbps", serde_json::json!({ "overrides": impaired() }));
    let mut link = forward(&planned);
    let (mut left, mut again) = (Vec::new(), 0);
    for slot in 0..2000 {
        link.offer(ms(u64::from(slot)), packet(slot, 1, 1000));
        link.advance(ms(u64::from(slot)), &mut |time, packet, passage| {
            again += u64::from(passage.comes_again);
            left.push((time, packet.payload.slot));
        });
    }
    left.extend(leave(&mut link, ms(10_000)));
    assert!(left.is_sorted_by_key(|(time, _)| *time));
    let overtaken = left.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    let PacketOutcomes { out, lost, copied, dropped, .. } = link.outcomes();
    assert_eq!((out, dropped, link.held()), (2000 - lost + copied, 0, 0));
    assert!(copied.abs_diff(again) <= 5, "the last packets are not counted here");
    // Lost and not copied, and copied where neither is lost.
    assert!((130..230).contains(&lost) && (270..390).contains(&copied), "{lost} {copied}");
    assert!(overtaken > 300, "{overtaken}");
}

proptest! {
    #[test]
    fn every_buffer_comes_back_once(
        steps in prop::collection::vec((0u64..3_000_000_000, 0u16..3, 40u32..1500, 0u8..40), 1..400),
        queue in prop::sample::select(vec![DROP_TAIL, RED]),
        in_service_counts in any::<bool>(),
        loss in prop::sample::select(vec![0.0, 0.1]),
        is_impaired in any::<bool>(),
    ) {
        let plain = serde_json::json!({ "in_service_counts": in_service_counts, "loss": {"forward": loss} });
        let mut more = plain.clone();
        if is_impaired {
            more["overrides"] = impaired();
        }
        let configurations = [(DROP_TAIL, &more), (RED, &plain)]
            .map(|(queue, more)| planned(queue, "16Mbps", more.clone()));
        let mut link = forward(&planned(queue, "8Mbps", more));
        let (mut back, mut times) = (Vec::new(), Vec::new());
        let mut now = Time::ZERO;
        for (slot, (pause, group, bytes, chance)) in (0..).zip(&steps) {
            now += Span(*pause);
            link.offer(now, packet(slot, *group, *bytes));
            match chance {
                0 => {
                    let other = &configurations[usize::from(*group) % 2];
                    link.renew(now, &other.settings(&other.groups())[0], false);
                }
                1..=20 => link.advance(now, &mut |time, packet, passage| {
                    times.push(time);
                    back.extend((!passage.comes_again).then_some(packet.payload.slot));
                }),
                _ => {}
            }
            link.take_freed(|buffer| back.push(buffer.slot));
            let outcomes = link.outcomes();
            let ended = outcomes.out + outcomes.dropped + outcomes.lost;
            prop_assert_eq!(outcomes.offered + outcomes.copied, ended + link.held());
            let in_use = outcomes.offered - back.len() as u64;
            prop_assert!(in_use <= link.held() && (in_use == link.held() || outcomes.copied > 0));
        }
        link.advance(Time(u64::MAX / 2), &mut |time, packet, passage| {
            times.push(time);
            back.extend((!passage.comes_again).then_some(packet.payload.slot));
        });
        link.take_freed(|buffer| back.push(buffer.slot));
        back.sort_unstable();
        prop_assert_eq!(back, (0..steps.len() as u32).collect::<Vec<_>>());
        prop_assert!(times.is_sorted());
        prop_assert_eq!(link.held(), 0);
    }
}
