//! The size of the file.

use super::File;
use crate::driver::Driver;
use crate::engine::ranks::Ranks;
use crate::error::{Class, Error, Result};

impl File {
    /// Bytes in the file.
    pub fn size(&self) -> Result<i64> {
        let size = self.driver()?.size()?;
        Ok(i64::try_from(size).unwrap_or(i64::MAX))
    }

    /// Cuts or extends the file. Collective.
    pub fn set_size(&self, size: i64) -> Result<()> {
        let accept = |driver: &dyn Driver, size| driver.accept_size(size);
        self.resize("sizes", size, |driver, size| driver.set_size(size), accept)
    }

    /// Makes room for the first `size` bytes. Collective.
    pub fn preallocate(&self, size: i64) -> Result<()> {
        let look = |driver: &dyn Driver, _| driver.refresh();
        self.resize("sizes to preallocate", size, |driver, size| driver.preallocate(size), look)
    }

    /// One rank does it, when all are there and agree; then all look at it anew.
    fn resize(
        &self,
        what: &str,
        size: i64,
        resize: impl FnOnce(&dyn Driver, u64) -> Result<()>,
        look: impl FnOnce(&dyn Driver, u64) -> Result<()>,
    ) -> Result<()> {
        self.settle();
        let allowed = self.random_access("changing the size").and_then(|()| self.writable());
        let checked = allowed.and_then(|()| {
            u64::try_from(size)
                .map_err(|_| Error::new(Class::Arg, format!("{size} is no size for a file")))
        });
        // What a host has not sent yet would be taken for a hole, or come after the end was cut.
        let checked = checked.and_then(|size| match self.hidden {
            true => self.driver()?.sync().map(|()| size),
            false => Ok(size),
        });
        let size = self.agree_on(what, size, checked)?;
        let driver = self.driver();
        let resized = match driver {
            Ok(driver) if self.ranks.rank() == 0 => resize(&*driver, size),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        self.agree(resized)?;
        self.agree(self.driver().and_then(|driver| look(&*driver, size)))
    }

    fn writable(&self) -> Result<()> {
        self.amode.allows(crate::operation::Direction::Write)
    }
}
