/// The data that the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Always more.
    Greedy,
    /// This many full data packets; a SYN comes on top.
    Packets(u64),
    /// This many bytes of payload. A profile that counts packets pads the last one.
    Bytes(u64),
}
