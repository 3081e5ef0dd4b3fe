//! The external32 representation: big-endian, with the sizes that the standard's table gives.

use super::typemap::{Element, Kind};
use crate::error::{Class, Error, Result};

/// Bytes of an element in the file.
pub fn size(element: Element) -> u32 {
    match element.kind {
        Kind::Wide => 2,
        Kind::Long | Kind::UnsignedLong => 4,
        Kind::LongDouble => 16,
        _ => element.size,
    }
}

/// Converts elements of one kind from this machine's memory to the file's form.
pub fn encode(element: Element, native: &[u8], external: &mut [u8]) -> Result<()> {
    let from = native.chunks_exact(element.size as usize);
    let to = external.chunks_exact_mut(size(element) as usize);
    for (from, to) in from.zip(to) {
        match element.kind {
            Kind::LongDouble => to.copy_from_slice(&quad_from_native(from).to_be_bytes()),
            Kind::Wide | Kind::UnsignedLong => narrow(from, to, Sign::Unsigned)?,
            Kind::Long => narrow(from, to, Sign::Signed)?,
            _ => swap(from, to),
        }
    }
    Ok(())
}

/// Converts elements of one kind from the file's form to this machine's memory.
pub fn decode(element: Element, external: &[u8], native: &mut [u8]) -> Result<()> {
    let from = external.chunks_exact(size(element) as usize);
    let to = native.chunks_exact_mut(element.size as usize);
    for (from, to) in from.zip(to) {
        match element.kind {
            Kind::LongDouble => native_from_quad(be(from), to),
            Kind::Wide | Kind::UnsignedLong => widen(from, to, 0),
            Kind::Long => widen(from, to, if from[0] & 0x80 == 0 { 0 } else { 0xFF }),
            _ => swap(from, to),
        }
    }
    Ok(())
}

/// Big-endian bytes to this machine's order, or back.
fn swap(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
    if cfg!(target_endian = "little") {
        to.reverse();
    }
}

fn be(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}

/// An integer into as many bytes as the file has for it.
fn narrow(from: &[u8], to: &mut [u8], sign: Sign) -> Result<()> {
    let mut number = from.to_vec();
    if cfg!(target_endian = "little") {
        number.reverse();
    }
    let cut = number.len().saturating_sub(to.len());
    let (lost, kept) = number.split_at(cut);
    let filler = if sign == Sign::Signed && kept[0] & 0x80 != 0 { 0xFF } else { 0 };
    if lost.iter().any(|&byte| byte != filler) {
        let bits = 8 * to.len();
        let text =
            format!("a value of {} bytes does not fit the {bits} bits of external32", from.len());
        return Err(Error::new(Class::Conversion, text));
    }
    let lead = to.len() - kept.len();
    to[..lead].fill(filler);
    to[lead..].copy_from_slice(kept);
    Ok(())
}

fn widen(from: &[u8], to: &mut [u8], filler: u8) {
    let lead = to.len() - from.len();
    to[..lead].fill(filler);
    to[lead..].copy_from_slice(from);
    if cfg!(target_endian = "little") {
        to.reverse();
    }
}

/// The 80 bits of an x87 register, as memory holds them in its first ten bytes.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn quad_from_native(native: &[u8]) -> u128 {
    let mut mantissa = [0; 8];
    mantissa.copy_from_slice(&native[..8]);
    let mantissa = u64::from_le_bytes(mantissa);
    let head = u128::from(u16::from_le_bytes([native[8], native[9]]));
    let (sign, exponent) = (head >> 15, head & 0x7FFF);
    // The x87 format writes out the leading 1 that the IEEE format leaves away. A number without
    // it is subnormal with exponent 0, which means the same in both.
    let fraction = u128::from(mantissa & (u64::MAX >> 1)) << 49;
    sign << 127 | exponent << 112 | fraction
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn native_from_quad(quad: u128, native: &mut [u8]) {
    let sign = (quad >> 127) as u16;
    let mut exponent = (quad >> 112 & 0x7FFF) as u16;
    let fraction = quad & ((1 << 112) - 1);
    let mut mantissa = (fraction >> 49) as u64;
    let rest = fraction & ((1 << 49) - 1);
    let half = 1u128 << 48;
    let special = exponent == 0x7FFF;
    if special {
        // A NaN must not become an infinity when its low bits go.
        mantissa |= u64::from(rest != 0 && mantissa == 0) << 62;
    } else if rest > half || rest == half && mantissa & 1 == 1 {
        mantissa += 1;
        if mantissa >> 63 == 1 {
            mantissa = 0;
            exponent += 1;
        }
    }
    if exponent != 0 {
        mantissa |= 1 << 63;
    }
    native.fill(0);
    native[..8].copy_from_slice(&mantissa.to_le_bytes());
    native[8..10].copy_from_slice(&(sign << 15 | exponent).to_le_bytes());
}

/// Elsewhere `long double` is the IEEE format or, as 8 bytes, a double.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn quad_from_native(native: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(native);
    u128::from_ne_bytes(bytes)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn native_from_quad(quad: u128, native: &mut [u8]) {
    native.copy_from_slice(&quad.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, native: &[u8], external: &[u8]) {
        let element = Element { kind, size: native.len() as u32 };
        assert_eq!(size(element) as usize, external.len());
        let mut there = vec![0xAA; external.len()];
        encode(element, native, &mut there).unwrap();
        assert_eq!(there, external, "{kind:?} out");
        let mut back = vec![0xAA; native.len()];
        decode(element, external, &mut back).unwrap();
        assert_eq!(back, native, "{kind:?} back");
    }

    #[test]
    fn values_have_the_form_of_the_standard() {
        check(Kind::Signed, &(-2i32).to_ne_bytes(), &[0xFF, 0xFF, 0xFF, 0xFE]);
        check(Kind::Unsigned, &0x1234u16.to_ne_bytes(), &[0x12, 0x34]);
        check(Kind::Float, &1.0f64.to_ne_bytes(), &[0x3F, 0xF0, 0, 0, 0, 0, 0, 0]);
        check(Kind::Long, &(-2i64).to_ne_bytes(), &[0xFF, 0xFF, 0xFF, 0xFE]);
        check(Kind::UnsignedLong, &0xFFFF_FFFEu64.to_ne_bytes(), &[0xFF, 0xFF, 0xFF, 0xFE]);
        check(Kind::Wide, &0x41u32.to_ne_bytes(), &[0, 0x41]);
        check(Kind::Character, b"x", b"x");
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error() {
        for (kind, value) in [
            (Kind::Long, 1i64 << 31),
            (Kind::Long, -(1i64 << 31) - 1),
            (Kind::UnsignedLong, 1i64 << 32),
        ] {
            let element = Element { kind, size: 8 };
            let result = encode(element, &value.to_ne_bytes(), &mut [0; 4]);
            assert_eq!(result.unwrap_err().class, Class::Conversion);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn long_double_is_quadruple_precision_in_the_file() {
        // 1.0L, -2.5L, and the smallest subnormal: mantissa and exponent as gcc stores them.
        let one = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xFF, 0x3F, 0, 0, 0, 0, 0, 0];
        let mut external = [0; 16];
        external[..2].copy_from_slice(&[0x3F, 0xFF]);
        check(Kind::LongDouble, &one, &external);
        let minus = [0, 0, 0, 0, 0, 0, 0, 0xA0, 0x00, 0xC0, 0, 0, 0, 0, 0, 0];
        external[..3].copy_from_slice(&[0xC0, 0x00, 0x40]);
        check(Kind::LongDouble, &minus, &external);
        let mut tiny = [0; 16];
        tiny[0] = 1;
        let quad = quad_from_native(&tiny);
        assert_eq!(quad, 1 << 49);
        let mut back = [0; 16];
        native_from_quad(quad, &mut back);
        assert_eq!(back, tiny);
    }
}
