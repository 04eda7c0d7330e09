//! Tahoe: the third duplicate acknowledgement starts the window over.
//!
//! V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988; ns-2 2.35 `Agent/TCP`.
//!
//! The sender goes back to the first packet not acknowledged, halves ssthresh, sets cwnd to one packet and
//! slow starts. Duplicates after the third only try to send. As in ns-2, a time-out does not reset the count
//! of duplicates.

use aqmlab_units::Time;

use super::flow::{DupAck, Flow, LastCut, LossResponse};
use crate::{Ack, Data};

/// Takes an acknowledgement.
pub fn on_ack(flow: &mut Flow, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
    if ack.ack > flow.last_ack {
        flow.take_new_ack(now, ack);
    } else if ack.ack == flow.last_ack {
        match flow.count_dupack() {
            DupAck::Early => flow.send_one(now, out),
            DupAck::Loss => on_loss(flow, now),
            DupAck::Late => {}
        }
    }
    flow.send_window(now, flow.config.max_burst, out);
}

fn on_loss(flow: &mut Flow, now: Time) {
    match flow.loss_response() {
        LossResponse::Ignore => return,
        LossResponse::Cut => {
            flow.recover = flow.highest_sent;
            flow.collapse(true);
        }
        LossResponse::AlreadyCut => flow.collapse(false),
    }
    flow.last_cut = LastCut::DupAcks;
    flow.tally.fast_retransmits += 1;
    flow.restart_timer(now);
    flow.next = flow.highest_ack + 1;
}
