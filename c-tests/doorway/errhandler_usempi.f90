! Error handlers of files from the module mpi.
module seen
  implicit none
  integer :: calls = 0, called_with = -1, called_code = -1, errors = 0
contains
  subroutine handler(fh, code)
    integer :: fh, code
    calls = calls + 1
    called_with = fh
    called_code = code
  end subroutine

  subroutine check(condition, text)
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    if (condition) return
    errors = errors + 1
    print *, 'failed: ', text
  end subroutine
end module

program main
  use mpi
  use seen
  implicit none
  integer :: fh, errhandler, got, code, rank, total, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_File_open(MPI_COMM_WORLD, 'doorway_usempi.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, &
                     MPI_INFO_NULL, fh, ierr)
  call check(ierr == MPI_SUCCESS, 'open')
  call MPI_File_create_errhandler(handler, errhandler, ierr)
  call check(ierr == MPI_SUCCESS, 'create')
  call MPI_File_set_errhandler(fh, errhandler, ierr)
  call check(ierr == MPI_SUCCESS, 'set')
  call MPI_File_get_errhandler(fh, got, ierr)
  call check(got == errhandler, 'get')
  call MPI_Errhandler_free(got, ierr)
  call MPI_Errhandler_free(errhandler, ierr)
  call MPI_File_seek(fh, 0_MPI_OFFSET_KIND, 12345, code)
  call check(code /= MPI_SUCCESS, 'seek fails')
  call check(calls == 1 .and. called_with == fh .and. called_code == code, 'called')
  call MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN, ierr)
  call MPI_File_seek(fh, 0_MPI_OFFSET_KIND, 12345, code)
  call check(calls == 1, 'not called any more')
  call MPI_File_close(fh, ierr)
  call check(ierr == MPI_SUCCESS .and. fh == MPI_FILE_NULL, 'close')

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) call MPI_File_delete('doorway_usempi.dat', MPI_INFO_NULL, ierr)
  call MPI_Allreduce(errors, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total == 0) print '(a)', 'No Errors'
  call MPI_Finalize(ierr)
  if (total /= 0) stop 1
end program
