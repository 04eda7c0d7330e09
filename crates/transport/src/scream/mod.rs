//! SCReAM: a video whose bit rate follows a self-clocked congestion control, over RTP and UDP.
//!
//! I. Johansson and Z. Sarker, "Self-Clocked Rate Adaptation for Multimedia", RFC 8298 (2017), section 4. The sender has three parts, the
//! receiver reports what it receives:
//!
//! * `congestion.rs`: network congestion control. A congestion window in bytes follows the delay of the queue as in LEDBAT (RFC 6817),
//!   losses and ECN marks (section 4.1.2).
//! * `sender.rs`: sender transmission control. Packets leave the RTP queue if the window allows, paced (sections 4.1.2.5, 4.1.2.6).
//! * `rate.rs`: media rate control. The target bit rate of the encoder follows the window, the RTP queue and congestion (section 4.1.3).
//! * `receiver.rs` and `report.rs`: feedback (section 4.2).
//! * `sent.rs`: the list of transmitted packets, and loss detection (sections 4.1.2 and 4.1.2.4).
//! * `encoder.rs`: the source of video frames (RFC 8593).
//!
//! Names are those of the RFC. Parameters are listed in [`PARAMETERS`]; the RFC's constants are in the file that uses them.
//! Packets are neither sent again nor protected by FEC. All lengths are those of packets on a link, headers included, and so are
//! bit rates.
//!
//! # Readings
//! 1. `qdelay_norm_hist` has 100 samples in section 4.1.1.2 and 200 in the pseudocode of section 4.1.2.3. Here it has 200, one for each
//!    report. Averages include the initial zeros.
//! 2. `loss_event_rate` is a moving average over round trips with a weight of 1/100; the RFC gives none.
//! 3. `target_bitrate_last_max` is the target before a loss or ECN event, or when fast increase ends by `qdelay_trend`.
//! 4. Five seconds with a low `qdelay_trend`, after which fast increase resumes, begin no earlier than its end.
//! 5. `max_bytes_in_flight` is the greatest of the current and the last four seconds.
//! 6. After a loss or ECN event, for which the target is reduced at once, the next regular adjustment is skipped: the pseudocode exits.
//! 7. `bytes_newly_acked` of a report with a congestion event does not increase the window.
//! 8. Without a report for `max(2 s_rtt, 0.8 s)` a closed window lets packets pass at `RATE_PACE_MIN`: the "minimum send rate maintained by
//!    SCReAM when no feedback is received" of section 8, which section 4 does not define. 0.8 s is twice the longest `fb_int`.
//! 9. The round trip includes the time for which the receiver holds a report back, as the RFC's feedback does not have it.
//! 10. Sequence numbers are given when packets are sent, so packets discarded from the RTP queue do not count as lost.
//! 11. While the media pause, rates are measured and adjusted as zero, so that the target falls to its minimum.

mod config;
mod congestion;
mod encoder;
mod rate;
mod receiver;
mod report;
mod sender;
mod sent;
#[cfg(test)]
mod tests;

pub use config::{Config, FeedbackInterval, NAME, PARAMETERS};
pub use receiver::Receiver;
pub use sender::Sender;
