//! What one node sends another about a window.

use std::ops::Range;

use super::ring::Slot;

/// The bytes that were put into a part of a slot: which grains, one bit each, and then the bytes.
/// Takes them out of the slot.
pub fn pack(slot: &Slot<'_>, shift: u32, inside: Range<usize>) -> Vec<u8> {
    let marks = slot.marks(shift);
    let mut parcel = vec![0; bits_size(shift, &inside)];
    for run in marks.runs(inside.clone()) {
        for grain in (run.start - inside.start) >> shift..(run.end - inside.start) >> shift {
            parcel[grain / 8] |= 1 << (grain % 8);
        }
        parcel.extend_from_slice(&slot.bytes().skip(run.start).take(run.len()).to_vec());
    }
    marks.clear(inside);
    parcel
}

/// Puts the bytes of a parcel into the same part of a slot.
pub fn unpack(parcel: &[u8], slot: &Slot<'_>, shift: u32, inside: Range<usize>) {
    let marks = slot.marks(shift);
    let (bits, mut data) = parcel.split_at(bits_size(shift, &inside));
    let set = |grain: usize| bits[grain / 8] >> (grain % 8) & 1 == 1;
    let grains = inside.len() >> shift;
    let mut grain = 0;
    while grain < grains {
        if !set(grain) {
            grain += 1;
            continue;
        }
        let first = grain;
        while grain < grains && set(grain) {
            grain += 1;
        }
        let (start, length) = (inside.start + (first << shift), (grain - first) << shift);
        let (bytes, rest) = data.split_at(length);
        slot.bytes().skip(start).take(length).fill_from(bytes);
        marks.set_range(start..start + length);
        data = rest;
    }
}

/// The largest parcel for windows of this size.
pub fn largest(shift: u32, window_size: usize) -> usize {
    bits_size(shift, &(0..window_size)) + window_size
}

fn bits_size(shift: u32, inside: &Range<usize>) -> usize {
    (inside.len() >> shift).div_ceil(8)
}
