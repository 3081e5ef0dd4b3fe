//! The choices of a collective access. Each is independent of the others, and all ranks make the
//! same ones.

/// How the file is divided among the ranks that access it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitioning {
    /// One stretch for each.
    Even,
    /// Block by block in turn.
    #[default]
    StaticCyclic,
    /// One stretch for as many as the file has servers, and block by block in turn among them.
    GroupCyclic,
}

/// How bytes come from one group of ranks to another. Inside a group they are copied in memory
/// that its ranks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// Messages.
    #[default]
    TwoSided,
    /// Puts, which a fence of all ranks completes.
    PutFence,
    /// Puts under a shared lock, each granted before and told after by a short message.
    PutLock,
}

/// In which order windows are filled and written, or read and emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Every window for itself, by whoever comes last to it or first.
    #[default]
    Flow,
    /// One step after the other.
    None,
    /// The next shuffle is under way while the file is accessed.
    Communication,
    /// The file is accessed while the next shuffle is done.
    Write,
    /// Shuffle and file access are started together and waited for together.
    WriteCommunication,
    /// Whichever is done first starts what comes after it.
    WriteCommunication2,
}

/// Which ranks share a buffer and speak as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layers {
    /// Each rank speaks for itself.
    One,
    /// Ranks of a node are gathered first.
    #[default]
    Two,
}

/// What a collective access is to be done with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Choice {
    pub partitioning: Partitioning,
    pub transfer: Transfer,
    pub overlap: Overlap,
}

macro_rules! named {
    ($type:ident: $($name:literal => $value:ident,)*) => {
        impl $type {
            /// The one that a hint means by this name.
            pub fn named(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$value),)*
                    _ => None,
                }
            }

            /// Its name in hints and reports.
            pub fn name(self) -> &'static str {
                match self { $($type::$value => $name,)* }
            }
        }
    };
}

named! { Partitioning:
    "even" => Even,
    "static_cyclic" => StaticCyclic,
    "group_cyclic" => GroupCyclic,
}

named! { Transfer:
    "two_sided" => TwoSided,
    "put_fence" => PutFence,
    "put_lock" => PutLock,
}

named! { Overlap:
    "flow" => Flow,
    "none" => None,
    "communication" => Communication,
    "write" => Write,
    "write_communication" => WriteCommunication,
    "write_communication_2" => WriteCommunication2,
}

named! { Layers:
    "1" => One,
    "2" => Two,
}
