//! NewReno: fast recovery that lasts until the whole window of data is repaired.
//!
//! J. Hoe, "Improving the start-up behavior of a congestion control scheme for TCP", SIGCOMM 1996; S. Floyd
//! and T. Henderson, RFC 2582, section 3, the careful and impatient variant; ns-2 2.35 `Agent/TCP/Newreno`.
//!
//! An acknowledgement below `recover` during recovery is partial: the packet after it was lost as well and is
//! resent at once, and the inflated window shrinks by what was acknowledged ("partial window deflation"),
//! less the one packet resent. Only the first partial acknowledgement of a recovery restarts the timer.
//!
//! ```text
//! a = packets acknowledged, d = inflation:
//! d > a:      d <- d - (a - 1)
//! otherwise:  cwnd <- cwnd - (a - d), d <- 1
//! then        cwnd <- max(cwnd, 1)
//! ```
//!
//! During recovery at most two packets are sent at one time.

use aqmlab_units::Time;

use super::flow::{Flow, LastCut};
use super::reno;
use crate::ns2::DUPACK_THRESHOLD;
use crate::{Ack, Data};

/// Most packets sent at one time during recovery.
const RECOVERY_BURST: u32 = 2;

/// NewReno's own state.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// This recovery has seen a partial acknowledgement.
    seen_partial: bool,
}

impl NewReno {
    /// Whether an acknowledgement of new data changes nothing here.
    pub fn is_plain(&self) -> bool {
        !self.seen_partial
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, flow: &mut Flow, now: Time, ack: &Ack, out: &mut impl FnMut(Data)) {
        if ack.ack > flow.last_ack {
            if ack.ack >= flow.recover || flow.last_cut != LastCut::DupAcks {
                self.on_full_ack(flow, now, ack);
            } else {
                self.on_partial_ack(flow, now, ack.ack, out);
            }
        } else if ack.ack == flow.last_ack {
            reno::on_duplicate(flow, now, out);
        }
        if flow.dupacks == 0 {
            flow.send_window(now, flow.config.max_burst, out);
        } else if flow.dupacks >= DUPACK_THRESHOLD {
            flow.send_window(now, RECOVERY_BURST, out);
        }
    }

    fn on_full_ack(&mut self, flow: &mut Flow, now: Time, ack: &Ack) {
        if flow.window.inflation > 0 {
            flow.window.inflation = 0;
            if flow.last_cut == LastCut::DupAcks {
                flow.last_cut = LastCut::Recovered;
            }
        }
        self.seen_partial = false;
        flow.take_new_ack(now, ack);
    }

    fn on_partial_ack(&mut self, flow: &mut Flow, now: Time, ack: i32, out: &mut impl FnMut(Data)) {
        if !self.seen_partial {
            self.seen_partial = true;
            flow.renew_timer(now, ack);
        }
        deflate(flow, (ack - flow.last_ack) as u32);
        flow.move_edge(ack);
        if flow.end_timing(ack) {
            flow.rtt.end_back_off(&flow.config);
        }
        flow.transmit(now, flow.last_ack + 1, out);
    }
}

fn deflate(flow: &mut Flow, acked: u32) {
    let window = &mut flow.window;
    if window.inflation > acked {
        window.inflation -= acked - 1;
    } else {
        window.cwnd -= f64::from(acked - window.inflation);
        window.inflation = 1; // still in recovery
    }
    window.cwnd = window.cwnd.max(1.0);
}
