//! Which ranks access the file in collective calls, where somebody has asked for certain ones.

use crate::driver::Layout;
use crate::engine::ranks::{Ranks, share};
use crate::engine::two_phase::Nodes;
use crate::error::Result;
use crate::hint::Hints;
use crate::run::{Communicator, block_on, homes};

/// Where the ranks of a file live, and what `cb_config_list` says of that.
pub(super) struct Homes {
    nodes: Nodes,
    /// Most aggregators on each node.
    most: Vec<usize>,
}

impl Homes {
    /// Asks every rank about its host, if the hints or the layout need to know. Collective then.
    pub(super) fn ask(
        ranks: &Communicator,
        hints: &Hints,
        layout: Layout,
    ) -> Result<Option<Homes>> {
        let asked = hints.cb_nodes.is_some() || hints.cb_config_list.is_some();
        if !asked && along_stripes(hints, layout, ranks.size()).is_none() {
            return Ok(None);
        }
        let list = hints.cb_config_list.as_deref().unwrap_or("*:*");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let most = limit(list, host.trim()).min(i64::MAX as usize) as i64;
        let nodes = homes(ranks)?;
        let told = block_on(ranks, share(ranks, Ok(most), |&most| [most]))?.1;
        let most = nodes.leaders().map(|leader| told[leader][0] as usize).collect();
        Ok(Some(Homes { nodes, most }))
    }
}

/// The ranks that access the file; none where it is left to all of them. A list that names nobody
/// is no reason to access nothing.
pub(super) fn aggregators(
    hints: &Hints,
    layout: Layout,
    homes: &Option<Homes>,
    size: usize,
) -> Option<Vec<usize>> {
    let most = match (hints.cb_nodes, along_stripes(hints, layout, size)) {
        (None, None) if homes.is_none() => return None,
        (None, None) => usize::MAX,
        (None, Some(most)) | (Some(most), None) => most as usize,
        (Some(one), Some(other)) => one.min(other) as usize,
    };
    let ranks = match homes {
        Some(homes) => homes.nodes.choose(most, |node| homes.most[node]),
        None => Nodes::one(size).choose(most, |_| size),
    };
    (!ranks.is_empty() && ranks.len() < size).then_some(ranks)
}

/// Most aggregators, where the stripes of the file are a reason.
fn along_stripes(hints: &Hints, layout: Layout, size: usize) -> Option<u64> {
    let striped = layout.stripe_size > 1 && layout.stripe_count > 1;
    let ratio = hints.lustre_co_ratio.or(hints.nodes_multiplier).filter(|_| striped);
    match ratio {
        Some(ratio) => Some(ratio.saturating_mul(layout.stripe_count)),
        // Half of the ranks did best where writers of one server do not disturb each other.
        None if layout.shared_servers && hints.cb_nodes.is_none() => Some((size as u64 / 2).max(1)),
        None => None,
    }
}

/// Most aggregators on a host, as a list in ROMIO's words says: `host:count`, separated by commas,
/// with `*` for any host and for any number, and one where no number is given.
fn limit(list: &str, host: &str) -> usize {
    for entry in list.split(',') {
        let (name, count) = entry.split_once(':').unwrap_or((entry, "1"));
        let short = host.split('.').next().unwrap_or(host);
        if ["*", host, short].contains(&name.trim()) {
            return match count.trim() {
                "*" => usize::MAX,
                count => count.parse().unwrap_or(1),
            };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn romios_words() {
        for (list, expected) in [
            ("*:1", 1),
            ("*:*", usize::MAX),
            ("*", 1),
            ("other:3,node:2,*:1", 2),
            ("other:3", 0),
            ("node.cluster:4", 4),
            ("*:0", 0),
            ("::::", 0),
            ("", 0),
        ] {
            assert_eq!(limit(list, "node.cluster"), expected, "{list}");
        }
    }
}
