//! Random typemaps, each with the plain list of its bytes beside it.

use std::sync::Arc;

use crate::memory::UserMemory;
use crate::view::array::{Darray, Distribution, Order};
use crate::view::layout::View;
use crate::view::typemap::{Monotony, Typemap};

/// splitmix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    pub fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// A typemap and the model's idea of it: every byte's displacement, in order.
#[derive(Clone, Debug)]
pub struct Typed {
    pub typemap: Typemap,
    pub bytes: Vec<i64>,
    pub lb: i64,
    pub ub: i64,
}

const MOST_BYTES: usize = 3000;

impl Typed {
    fn basic(size: u64) -> Typed {
        let bytes = (0..size as i64).collect();
        Typed { typemap: Typemap::bytes(size), bytes, lb: 0, ub: size as i64 }
    }

    fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Copies of `self` at `places`.
    fn at(&self, places: &[i64], typemap: Typemap) -> Typed {
        let bytes = places.iter().flat_map(|place| self.bytes.iter().map(move |b| b + place));
        let lb = places.iter().map(|place| place + self.lb).min().unwrap_or(0);
        let ub = places.iter().map(|place| place + self.ub).max().unwrap_or(0);
        Typed { typemap, bytes: bytes.collect(), lb, ub }
    }

    /// A typemap of some depth. `tame` ones may be used as filetypes.
    pub fn random(random: &mut Random, tame: bool) -> Typed {
        loop {
            let depth = random.below(4);
            let mut typed = Typed::basic([1, 2, 3, 4, 8, 16, 20][random.below(7) as usize]);
            for _ in 0..depth {
                typed = typed.grow(random, tame);
            }
            if typed.bytes.is_empty() || typed.bytes.len() > MOST_BYTES {
                continue;
            }
            assert_eq!(typed.typemap.size(), typed.bytes.len() as u64);
            assert_eq!((typed.typemap.lb(), typed.typemap.extent()), (typed.lb, typed.extent()));
            let usable = typed.bytes.iter().all(|&byte| byte >= 0)
                && typed.typemap.monotony() == Monotony::Increasing;
            if !tame || usable {
                return typed;
            }
        }
    }

    fn grow(&self, random: &mut Random, tame: bool) -> Typed {
        let lowest = if tame { 0 } else { -3 };
        match random.below(6) {
            0 => {
                let count = random.below(5) as i64;
                let places: Vec<i64> = (0..count).map(|i| i * self.extent()).collect();
                self.at(&places, self.typemap.contiguous(count as u64))
            }
            1 => {
                let (count, length) = (random.range(0, 5), random.range(0, 3));
                let stride = self.extent() * random.range(lowest, 5) + random.range(0, 3);
                let places: Vec<i64> = (0..count)
                    .flat_map(|i| (0..length).map(move |j| (i, j)))
                    .map(|(i, j)| i * stride + j * self.extent())
                    .collect();
                self.at(&places, self.typemap.hvector(count as u64, length as u64, stride))
            }
            2 => self.indexed(random, lowest),
            3 => self.subarray(random),
            4 => self.darray(random),
            _ => {
                let (below, above) = (random.range(0, 5), random.range(0, 9));
                let lb = self.lb - below;
                let ub = self.ub + above;
                let typemap = self.typemap.resized(lb, ub - lb);
                Typed { typemap, bytes: self.bytes.clone(), lb, ub }
            }
        }
    }

    fn indexed(&self, random: &mut Random, lowest: i64) -> Typed {
        let mut place = random.range(0, 10);
        let mut blocks = Vec::new();
        for _ in 0..random.below(5) {
            let length = random.below(3);
            blocks.push((place, length));
            place += self.extent() * length as i64 + random.range(lowest, 7) * random.range(0, 2);
        }
        let places: Vec<i64> = blocks
            .iter()
            .flat_map(|&(at, length)| (0..length as i64).map(move |i| (at, i)))
            .map(|(at, i)| at + i * self.extent())
            .collect();
        if random.one_in(2) {
            return self.at(&places, self.typemap.hindexed(&blocks));
        }
        let members: Vec<_> =
            blocks.iter().map(|&(at, length)| (at, length, self.typemap.clone())).collect();
        self.at(&places, Typemap::structure(&members))
    }

    fn subarray(&self, random: &mut Random) -> Typed {
        let dimensions = random.range(1, 3) as usize;
        let sizes: Vec<u64> = (0..dimensions).map(|_| random.range(1, 4) as u64).collect();
        let subsizes: Vec<u64> = sizes.iter().map(|&size| 1 + random.below(size)).collect();
        let starts: Vec<u64> =
            sizes.iter().zip(&subsizes).map(|(&all, &part)| random.below(all - part + 1)).collect();
        let order = if random.one_in(2) { Order::C } else { Order::Fortran };
        let inside = |index: &[u64]| {
            index.iter().zip(&starts).zip(&subsizes).all(|((&i, &s), &n)| i >= s && i < s + n)
        };
        let typemap = self.typemap.subarray(&sizes, &subsizes, &starts, order);
        self.array(&sizes, order, inside, typemap)
    }

    fn darray(&self, random: &mut Random) -> Typed {
        let dimensions = random.range(1, 2) as usize;
        let gsizes: Vec<u64> = (0..dimensions).map(|_| random.range(1, 6) as u64).collect();
        let psizes: Vec<u64> = (0..dimensions).map(|_| random.range(1, 3) as u64).collect();
        let size = psizes.iter().product();
        let distribs: Vec<Distribution> = psizes
            .iter()
            .zip(&gsizes)
            .map(|(&processes, &all)| match random.below(4) {
                0 if processes == 1 => Distribution::None,
                0 | 1 => Distribution::Block(None),
                2 => Distribution::Block(Some(all.div_ceil(processes) + random.below(2))),
                _ => Distribution::Cyclic(Some(1 + random.below(2))),
            })
            .collect();
        let order = if random.one_in(2) { Order::C } else { Order::Fortran };
        let rank = random.below(size);
        let mut place = Vec::new();
        let mut rest = rank;
        for &processes in psizes.iter().rev() {
            place.insert(0, rest % processes);
            rest /= processes;
        }
        let owner = |dimension: usize, index: u64| match distribs[dimension] {
            Distribution::None => 0,
            Distribution::Block(size) => {
                index / size.unwrap_or(gsizes[dimension].div_ceil(psizes[dimension]))
            }
            Distribution::Cyclic(size) => (index / size.unwrap_or(1)) % psizes[dimension],
        };
        let inside = |index: &[u64]| {
            index.iter().enumerate().all(|(dimension, &i)| owner(dimension, i) == place[dimension])
        };
        let darray = Darray {
            size,
            rank,
            gsizes: gsizes.clone(),
            distribs: distribs.clone(),
            psizes: psizes.clone(),
            order,
        };
        self.array(&gsizes, order, inside, self.typemap.darray(&darray))
    }

    /// The elements of an array that lie `inside`, in memory order.
    fn array(
        &self,
        sizes: &[u64],
        order: Order,
        inside: impl Fn(&[u64]) -> bool,
        typemap: Typemap,
    ) -> Typed {
        let total: u64 = sizes.iter().product();
        let mut places = Vec::new();
        for number in 0..total {
            let mut rest = number;
            let mut index = vec![0; sizes.len()];
            let mut dimensions: Vec<usize> = (0..sizes.len()).collect();
            if order == Order::C {
                dimensions.reverse();
            }
            for dimension in dimensions {
                index[dimension] = rest % sizes[dimension];
                rest /= sizes[dimension];
            }
            if inside(&index) {
                places.push(number as i64 * self.extent());
            }
        }
        let mut typed = self.at(&places, typemap);
        (typed.lb, typed.ub) = (self.lb, self.lb + total as i64 * self.extent());
        typed
    }

    /// The displacement of data byte `position`, tiled.
    pub fn byte(&self, position: u64) -> i64 {
        let size = self.bytes.len() as u64;
        self.bytes[(position % size) as usize] + (position / size) as i64 * self.extent()
    }
}

/// What one rank accesses.
#[derive(Debug)]
pub struct Own {
    pub view: Typed,
    pub displacement: u64,
    pub position: u64,
    pub memory: Typed,
    pub count: u64,
}

impl Own {
    pub fn random(random: &mut Random) -> Own {
        let view = Typed::random(random, true);
        let memory = Typed::random(random, false);
        Own {
            displacement: random.below(50),
            position: random.below(2 * view.bytes.len() as u64 + 1),
            view,
            memory,
            count: random.below(4),
        }
    }

    /// Bytes of the access.
    pub fn size(&self) -> u64 {
        self.count * self.memory.bytes.len() as u64
    }

    /// Where the memory starts in a buffer that holds all of it, and the buffer's size.
    pub fn room(&self) -> (i64, usize) {
        let places = (0..self.size()).map(|position| self.memory.byte(position));
        let low = places.clone().min().unwrap_or(0).min(0);
        let high = places.max().unwrap_or(0).max(0) + 1;
        (-low, (high - low) as usize)
    }

    /// Where in the file byte `index` of the access lies.
    pub fn offset(&self, index: u64) -> usize {
        (self.displacement as i64 + self.view.byte(self.position + index)) as usize
    }

    /// The view as engines know it.
    pub fn as_view(&self) -> View {
        let filetype = Arc::new(self.view.typemap.clone());
        View { displacement: self.displacement, etype_size: 1, filetype }
    }

    /// The memory, in a buffer that has `room` for it.
    pub fn user_memory(&self, buffer: &mut [u8]) -> UserMemory {
        UserMemory::within(buffer, self.room().0, self.memory.typemap.clone(), self.count)
    }

    /// What a read of `file` fills the buffer with, and how many bytes it finds.
    pub fn expected_read(&self, file: &[u8], before: u8) -> (Vec<u8>, u64) {
        let (origin, room) = self.room();
        let mut expected = vec![before; room];
        let mut size = 0;
        for index in 0..self.size() {
            let Some(&byte) = file.get(self.offset(index)) else { break };
            expected[(origin + self.memory.byte(index)) as usize] = byte;
            size = index + 1;
        }
        (expected, size)
    }

    /// Whether pieces overlap in memory, which may be filled in any order then: MPI forbids
    /// reading so.
    pub fn overlaps_in_memory(&self) -> bool {
        let mut places: Vec<i64> = (0..self.size()).map(|i| self.memory.byte(i)).collect();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }
}
