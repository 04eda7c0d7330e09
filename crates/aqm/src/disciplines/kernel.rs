/// A version of Linux whose decisions differ from those of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// 6.1.
    V6_1,
    /// 6.12.
    V6_12,
    /// 7.3.
    #[default]
    V7_3,
}
