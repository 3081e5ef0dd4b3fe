C     Error handlers of files from mpif.h: a Fortran subroutine is called
C     with a handle and a code that Fortran understands.
      subroutine handler(fh, code)
      implicit none
      integer fh, code
      integer calls, called_with, called_code
      common /seen/ calls, called_with, called_code
      calls = calls + 1
      called_with = fh
      called_code = code
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
      external handler
      integer calls, called_with, called_code
      common /seen/ calls, called_with, called_code
      integer errors
      common /count/ errors
      integer fh, copy, errhandler, got, code, class, rank, ierr, total
      integer (kind=MPI_OFFSET_KIND) offset

      errors = 0
      calls = 0
      offset = 0
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)

      call MPI_FILE_GET_ERRHANDLER(MPI_FILE_NULL, got, ierr)
      call check(got .eq. MPI_ERRORS_RETURN, 'default handler')

      call MPI_FILE_CREATE_ERRHANDLER(handler, errhandler, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'create')
      call MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, errhandler, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'set on the null file')
      call MPI_FILE_OPEN(MPI_COMM_WORLD, 'doorway_nowhere.dat',
     &     MPI_MODE_RDONLY, MPI_INFO_NULL, fh, code)
      call MPI_ERROR_CLASS(code, class, ierr)
      call check(class .eq. MPI_ERR_NO_SUCH_FILE, 'class of open')
      call check(fh .eq. MPI_FILE_NULL, 'no handle')
      call check(calls .eq. 1, 'called at open')
      call check(called_with .eq. MPI_FILE_NULL, 'called with null')
      call check(called_code .eq. code, 'called with the code')

      call MPI_FILE_OPEN(MPI_COMM_WORLD, 'doorway_f77.dat',
     &     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'open')
      call check(fh .gt. 4096, 'a positive handle')
      call MPI_FILE_SET_ERRHANDLER(MPI_FILE_NULL, MPI_ERRORS_RETURN,
     &     ierr)
      call MPI_FILE_GET_ERRHANDLER(fh, got, ierr)
      call check(got .eq. errhandler, 'inherited')
      call MPI_ERRHANDLER_FREE(got, ierr)
      call MPI_ERRHANDLER_FREE(errhandler, ierr)

      calls = 0
      call MPI_FILE_SEEK(fh, offset, 12345, code)
      call check(calls .eq. 1, 'called at seek')
      call check(called_with .eq. fh, 'called with the file')
      call check(called_code .eq. code, 'called with its code')
      call MPI_FILE_CALL_ERRHANDLER(fh, MPI_ERR_NO_SPACE, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'call_errhandler')
      call check(calls .eq. 2, 'called by name')
      call check(called_code .eq. MPI_ERR_NO_SPACE, 'with that code')

      copy = fh
      call MPI_FILE_CLOSE(fh, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'close')
      call check(fh .eq. MPI_FILE_NULL, 'null after close')
      call MPI_FILE_SEEK(copy, offset, MPI_SEEK_SET, code)
      call MPI_ERROR_CLASS(code, class, ierr)
      call check(class .eq. MPI_ERR_FILE, 'stale handle')
      call check(calls .eq. 2, 'not called any more')

      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
        call MPI_FILE_DELETE('doorway_f77.dat', MPI_INFO_NULL, ierr)
        call check(ierr .eq. MPI_SUCCESS, 'delete')
      end if
      call MPI_ALLREDUCE(errors, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. 0 .and. total .eq. 0) print '(a)', 'No Errors'
      call MPI_FINALIZE(ierr)
      if (total .ne. 0) stop 1
      end
