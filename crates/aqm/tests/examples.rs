//! The examples in loops of other programs run, and their disciplines do what they are for.

#[allow(dead_code, reason = "main is for the command line")]
#[path = "../examples/datagram_loop.rs"]
mod datagram_loop;
#[allow(dead_code, reason = "main is for the command line")]
#[path = "../examples/device_loop.rs"]
mod device_loop;

#[test]
fn fq_codel_before_a_device_keeps_a_sparse_host_from_the_queue_of_another() {
    let summary = device_loop::run().expect("defaults are valid");
    assert_eq!(summary.sent[1], 50, "{summary:?}");
    assert!(summary.sent[0] > 800 && summary.marked > 0, "{summary:?}");
}

#[test]
fn dualpi2_under_datagrams_marks_l4s_and_keeps_its_delay_below_the_classic_one() {
    let summary = datagram_loop::run().expect("defaults are valid");
    assert!(summary.marked > 0 && summary.dropped > 0, "{summary:?}");
    assert!(summary.l4s.1 < summary.classic.1, "{summary:?}");
}
