//! The fields of acknowledgements that an ACK filter compares.

/// The fields of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFields {
    /// The number acknowledged. Numbers wrap.
    pub number: i32,
    /// The flags of the ECN echo.
    pub ecn: u8,
    /// A pure acknowledgement: without data, and only with flags and options that a filter knows.
    pub is_pure: bool,
    /// SACK blocks and time stamp.
    pub options: AckOptions,
}

/// The options of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckOptions {
    /// Without options.
    #[default]
    None,
    /// Options with unknown values.
    Unknown,
    /// These.
    Known(KnownOptions),
}

/// Most SACK blocks of an acknowledgement (RFC 2018, section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// The values of options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownOptions {
    /// Time stamp and the one that it echoes (RFC 7323); 0 without.
    pub stamps: [u32; 2],
    /// First numbers of SACK blocks and of what follows them.
    pub sack: [[u32; 2]; MAX_SACK_BLOCKS],
    /// SACK blocks.
    pub blocks: u8,
}

impl KnownOptions {
    /// Return the SACK blocks.
    pub fn sack(&self) -> &[[u32; 2]] {
        self.sack.get(..usize::from(self.blocks)).unwrap_or(&self.sack)
    }
}
