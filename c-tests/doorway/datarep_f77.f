C     A data representation from mpif.h: numbers with another sign.
C     Reading and writing turn the sign, so the file shows who was called.
      subroutine turn(userbuf, datatype, count, filebuf, position,
     &     extra_state, ierror)
      implicit none
      include 'mpif.h'
      integer userbuf(*), filebuf(*)
      integer datatype, count, ierror, i
      integer (kind=MPI_OFFSET_KIND) position
      integer (kind=MPI_ADDRESS_KIND) extra_state
      ierror = MPI_ERR_CONVERSION
      if (datatype .ne. MPI_INTEGER) return
      if (extra_state .ne. 4711) return
      do i = 1, count
        filebuf(i) = -userbuf(position + i)
      end do
      ierror = MPI_SUCCESS
      end

      subroutine turn_back(userbuf, datatype, count, filebuf, position,
     &     extra_state, ierror)
      implicit none
      include 'mpif.h'
      integer userbuf(*), filebuf(*)
      integer datatype, count, ierror, i
      integer (kind=MPI_OFFSET_KIND) position
      integer (kind=MPI_ADDRESS_KIND) extra_state
      ierror = MPI_ERR_CONVERSION
      if (datatype .ne. MPI_INTEGER) return
      if (extra_state .ne. 4711) return
      do i = 1, count
        userbuf(position + i) = -filebuf(i)
      end do
      ierror = MPI_SUCCESS
      end

      subroutine extent_of(datatype, extent, extra_state, ierror)
      implicit none
      include 'mpif.h'
      integer datatype, ierror
      integer (kind=MPI_ADDRESS_KIND) extent, extra_state, lower
      call MPI_TYPE_GET_EXTENT(datatype, lower, extent, ierror)
      if (extra_state .ne. 4711) ierror = MPI_ERR_CONVERSION
      end

      subroutine check(condition, text)
      implicit none
      logical condition
      character*(*) text
      integer errors
      common /count/ errors
      if (.not. condition) then
        errors = errors + 1
        print *, 'failed: ', text
      end if
      end

      program main
      implicit none
      include 'mpif.h'
      external turn, turn_back, extent_of
      integer errors
      common /count/ errors
      integer fh, code, class, rank, ierr, total, i
      integer numbers(4), back(4)
      integer (kind=MPI_ADDRESS_KIND) extra_state, extent
      integer (kind=MPI_OFFSET_KIND) zero, offset
      character*(MPI_MAX_DATAREP_STRING) name

      errors = 0
      zero = 0
      extra_state = 4711
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
C     The name has blanks behind it, which do not belong to it.
      name = 'turned'
      call MPI_REGISTER_DATAREP(name, turn_back, turn, extent_of,
     &     extra_state, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'register')
      call MPI_REGISTER_DATAREP('turned', turn_back, turn, extent_of,
     &     extra_state, code)
      call MPI_ERROR_CLASS(code, class, ierr)
      call check(class .eq. MPI_ERR_DUP_DATAREP, 'register again')
      call MPI_REGISTER_DATAREP('unchanged', MPI_CONVERSION_FN_NULL,
     &     MPI_CONVERSION_FN_NULL, extent_of, extra_state, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'register without functions')

      call MPI_FILE_OPEN(MPI_COMM_WORLD, 'doorway_datarep.dat',
     &     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'open')
      call MPI_FILE_SET_VIEW(fh, zero, MPI_INTEGER, MPI_INTEGER,
     &     'turned', MPI_INFO_NULL, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'view')
      call MPI_FILE_GET_TYPE_EXTENT(fh, MPI_INTEGER, extent, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. extent .eq. 4, 'extent')
      do i = 1, 4
        numbers(i) = 100 * rank + i
        back(i) = 0
      end do
      offset = 4 * rank
      call MPI_FILE_WRITE_AT_ALL(fh, offset, numbers, 4, MPI_INTEGER,
     &     MPI_STATUS_IGNORE, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'write')
      call MPI_FILE_READ_AT_ALL(fh, offset, back, 4, MPI_INTEGER,
     &     MPI_STATUS_IGNORE, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'read')
      do i = 1, 4
        call check(back(i) .eq. numbers(i), 'read what was written')
      end do

C     Without functions the file is read as it is.
      call MPI_FILE_SET_VIEW(fh, zero, MPI_INTEGER, MPI_INTEGER,
     &     'unchanged', MPI_INFO_NULL, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'second view')
      call MPI_FILE_READ_AT_ALL(fh, offset, back, 4, MPI_INTEGER,
     &     MPI_STATUS_IGNORE, ierr)
      do i = 1, 4
        call check(back(i) .eq. -numbers(i), 'turned in the file')
      end do
      call MPI_FILE_CLOSE(fh, ierr)

      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
        call MPI_FILE_DELETE('doorway_datarep.dat', MPI_INFO_NULL, ierr)
      end if
      call MPI_ALLREDUCE(errors, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. 0 .and. total .eq. 0) print '(a)', 'No Errors'
      call MPI_FINALIZE(ierr)
      if (total .ne. 0) stop 1
      end
