//! Reno: fast retransmit and fast recovery.
//!
//! V. Jacobson, "Modified TCP congestion avoidance algorithm", end2end-interest, 30 April 1990; RFC 2001;
//! ns-2 2.35 `Agent/TCP/Reno`.
//!
//! The third duplicate acknowledgement resends the missing packet and halves the window. Until the next new
//! acknowledgement the window is inflated by the number of duplicates, each of which stands for a packet that
//! has left the network; then the inflation is gone.

use aqmlab_units::Time;

use super::flow::{DupAck, Flow, LastCut, LossResponse};
use crate::ns2::DUPACK_THRESHOLD;
use crate::{Ack, Data};

/// Takes an acknowledgement.
pub fn on_ack(flow: &mut Flow, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
    if ack.ack > flow.last_ack {
        if flow.last_cut == LastCut::DupAcks {
            flow.last_cut = LastCut::Recovered;
        }
        flow.window.inflation = 0;
        flow.take_new_ack(now, ack);
    } else if ack.ack == flow.last_ack {
        on_duplicate(flow, now, out);
    }
    if flow.dupacks == 0 || flow.dupacks >= DUPACK_THRESHOLD {
        flow.send_window(now, flow.config.max_burst, out);
    }
}

/// The reaction to a duplicate acknowledgement, shared with NewReno.
pub fn on_duplicate(flow: &mut Flow, now: Time, out: &mut impl FnMut(Data)) {
    match flow.count_dupack() {
        DupAck::Early => flow.send_one(now, out),
        DupAck::Loss => on_loss(flow, now, out),
        DupAck::Late => {
            if flow.last_cut == LastCut::DupAcks {
                flow.window.inflation += 1;
            }
        }
    }
}

fn on_loss(flow: &mut Flow, now: Time, out: &mut impl FnMut(Data)) {
    match flow.loss_response() {
        LossResponse::Ignore => return,
        LossResponse::Cut => {
            flow.recover = flow.highest_sent;
            flow.halve();
        }
        LossResponse::AlreadyCut => {}
    }
    flow.last_cut = LastCut::DupAcks;
    flow.tally.fast_retransmits += 1;
    flow.restart_timer(now);
    flow.transmit(now, flow.last_ack + 1, out);
    flow.window.inflation = DUPACK_THRESHOLD as u32;
}

/// Before the common reaction to a time-out.
pub fn before_timeout(flow: &mut Flow) {
    flow.window.inflation = 0;
    flow.dupacks = 0;
}
